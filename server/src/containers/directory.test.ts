import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Route } from '#/gateway/gateway.ts'
import type { Instance, Runtime } from '#/runtime/runtime.ts'
import type { Db } from '#/store/database.ts'
import { Directory } from './directory.ts'
import type { Templates } from './template.ts'

/** Gives the address of a container on to another one whenever a test says so, as engines do. */
class RecyclingRuntime {
  address: string | null = '172.18.0.2'
  /** ms until an answer arrives; it says what was true when it was asked. */
  delay = 0

  async inspectId(id: string): Promise<Instance> {
    const { address } = this
    await sleep(this.delay)
    const state = address === null ? 'exited' : 'running'
    return { id, address, state, port: 8080, owner: { userId: 1, slug: 'ann', type: 'dev' } } as Instance
  }
}

function arrange() {
  const runtime = new RecyclingRuntime()
  const directory = new Directory({} as Db, {} as Templates, runtime as unknown as Runtime)
  return { runtime, directory, locate: () => directory.locate({ containerId: 'c1' } as Route) }
}

test('an address is forgotten at once when the engine tells of a change', async () => {
  const { runtime, directory, locate } = arrange()
  assert.deepEqual(await locate(), { host: '172.18.0.2', port: 8080 })
  runtime.address = null
  directory.forget('c1')
  assert.deepEqual(await locate(), { unavailable: 'stopped' })
})

test('although no event arrives, an address is asked for again after a second', async () => {
  const { runtime, locate } = arrange()
  await locate()
  runtime.address = '172.18.0.9'
  await sleep(1_100)
  assert.deepEqual(await locate(), { host: '172.18.0.9', port: 8080 })
})

test('an answer that was on its way when something changed is not remembered', async () => {
  const { runtime, directory, locate } = arrange()
  runtime.delay = 50
  const late = locate()
  runtime.address = null
  directory.forget('c1')
  await late
  assert.deepEqual(await locate(), { unavailable: 'stopped' })
})
