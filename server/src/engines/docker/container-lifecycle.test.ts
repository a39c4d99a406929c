import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { pauseContainer } from './container-lifecycle.ts'
import type { EngineContext } from './engine-context.ts'
import { execStarts } from './exclusive-calls.ts'
import { homeLabels } from './labels.ts'

const id = 'a'.repeat(64)

/** An engine whose pauses of a running container fail with these words, one after the other, until there are none left. */
function arrange(words: string[]) {
  const asked: string[] = []
  const labels = homeLabels('test', { userId: 1, slug: 'ann', type: 'dev' })
  const inspection = {
    Id: id,
    Name: '/test-ann-dev',
    Image: `sha256:${id}`,
    Config: { Labels: labels },
    State: { Status: 'running', Running: true, ExitCode: 0, OOMKilled: false, StartedAt: '', FinishedAt: '' },
    NetworkSettings: { Networks: {} },
  }
  const client = {
    ask: async ({ method, path, what }: Record<'method' | 'path' | 'what', string>) => {
      if (method === 'GET') return inspection
      asked.push(path)
      const refusal = words.shift()
      if (refusal !== undefined) throw new RuntimeError('failed', what, new Error(refusal))
      return undefined
    },
  }
  const parts = {
    execs: execStarts(),
    client,
    installation: 'test',
    networks: { addressIn: () => null },
    oomNotices: new Map(),
  }
  return { asked, engine: parts as unknown as EngineContext }
}

const unable = 'the engine answered 500: Cannot pause container: OCI runtime pause failed: unable to freeze: unknown'

/** Of thirty containers that were paused as soon as they had started, on a busy machine, one was refused. */
test('a pause for which processes begin too quickly is tried again, and given up at last; any other refusal is one', async () => {
  const busy = arrange([unable, unable])
  await pauseContainer(busy.engine, id)
  assert.equal(busy.asked.length, 3)
  const never = arrange(Array.from({ length: 20 }, () => unable))
  await assert.rejects(pauseContainer(never.engine, id), { kind: 'failed', message: 'pause test-ann-dev' })
  assert.equal(never.asked.length, 5)
  const other = arrange(['the engine answered 500: no such device'])
  await assert.rejects(pauseContainer(other.engine, id), { kind: 'failed' })
  assert.equal(other.asked.length, 1)
})
