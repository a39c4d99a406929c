import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { knownStatuses } from './reader-handlers.ts'

/** An engine that has one container, `here`. */
function engineWith(keepsStopped: boolean): Pick<Runtime, 'inspectId' | 'list' | 'capabilities'> {
  const here = { id: 'here', state: 'running' } as RuntimeContainer
  return {
    capabilities: { keepsStopped } as Runtime['capabilities'],
    inspectId: async (id) => {
      if (id === 'unreachable') throw new Error('no answer')
      return id === 'here' ? here : undefined
    },
    list: async () => [here],
  }
}

for (const keepsStopped of [true, false])
  test(`what a follower does not find is the leader's to explain, ${keepsStopped ? 'on Docker' : 'on a cluster'}`, async () => {
    // A cluster finds pods by name only: one that the leader had just created was called "exited" by a follower.
    const statuses = knownStatuses(engineWith(keepsStopped))
    assert.deepEqual(await statuses.of('here'), { state: 'running' })
    assert.deepEqual([...(await statuses.ofEach(['here']))], [['here', { state: 'running' }]])
    await assert.rejects(statuses.of('unknown'))
    await assert.rejects(statuses.of('unreachable'))
    await assert.rejects(statuses.ofEach(['here', 'unknown']))
  })
