import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { StartVerifier } from './start-verification.ts'

/** A start is watched for so long at least, in ms. */
const watched = 400
/** Longer than a start is watched. */
const longEnough = 700

const spec = { name: 'i-ann-dev', owner: { userId: 1, slug: 'ann', type: 'dev' }, image: 'app' } as ContainerSpec

/** Programs that end on order; nothing but what `StartVerifier` asks for. */
class FallingRuntime {
  readonly states = new Map<string, string | undefined>()
  readonly capabilities = { hasNodes: false }

  async inspectId(id: string): Promise<RuntimeContainer | undefined> {
    const state = this.states.get(id)
    return state === undefined ? undefined : ({ id, state, exitCode: 1 } as RuntimeContainer)
  }

  start(id: string, fallsAfter = Infinity): void {
    this.states.set(id, 'running')
    if (fallsAfter < Infinity) setTimeout(() => this.states.set(id, 'exited'), fallsAfter)
  }
}

function arrange() {
  const runtime = new FallingRuntime()
  const verifier = new StartVerifier(runtime as unknown as Runtime)
  const settle = async (id: string) => {
    const started = performance.now()
    await verifier.verify(spec, id)
    return performance.now() - started
  }
  return { runtime, settle }
}

test('a program that ends at once is never called running, although the engine says so at first', async () => {
  const { runtime, settle } = arrange()
  runtime.start('a', 100)
  await assert.rejects(settle('a'), { kind: 'failed', message: /ended at once \(exited, exit code 1\)/ })
})

test('once a program has lasted, its next start is believed at once', async () => {
  const { runtime, settle } = arrange()
  runtime.start('a')
  assert.ok((await settle('a')) >= watched)
  runtime.start('b')
  assert.ok((await settle('b')) < watched)
})

test('a program that fell over after it was believed is watched again', async () => {
  const { runtime, settle } = arrange()
  runtime.start('a')
  await settle('a')
  runtime.start('b', 100)
  await settle('b')
  await sleep(longEnough)
  runtime.start('c', 100)
  await assert.rejects(settle('c'), { kind: 'failed' })
})

test('a container that was removed right after its start does not count as a failure of its program', async () => {
  const { runtime, settle } = arrange()
  runtime.start('a')
  await settle('a')
  runtime.start('b')
  await settle('b')
  runtime.states.delete('b')
  await sleep(longEnough)
  runtime.start('c')
  assert.ok((await settle('c')) < watched)
})
