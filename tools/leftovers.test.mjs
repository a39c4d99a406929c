import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeLeftovers } from './leftovers.mjs'
import { fakeEngine } from './test-support/fake-engine.mjs'

const hoursAgo = (/** @type {number} */ hours) => new Date(Date.now() - hours * 3_600_000)
const of = (/** @type {string} */ instance) => ({ 'berth.instance': instance })

test('only leftovers of test runs older than three hours are removed', async (t) => {
  /** @type {string[]} */
  const removed = []
  const host = await fakeEngine(t, (question) => {
    if (question.startsWith('DELETE')) removed.push(question)
    return engine[question] ?? {}
  })
  /** @type {Record<string, unknown>} */
  const engine = {
    'GET /containers/json': [
      { Id: 'old', Labels: of('test-1'), Created: hoursAgo(4).getTime() / 1000 },
      { Id: 'running-test', Labels: of('test-2'), Created: hoursAgo(2).getTime() / 1000 },
      { Id: 'somebody', Labels: of('berth-ghkmn'), Created: hoursAgo(9).getTime() / 1000 },
    ],
    'GET /networks': [{ Id: 'old-network', Name: 'n', Labels: of('test-1'), Created: hoursAgo(4).toISOString() }],
    'GET /volumes': {
      Volumes: [
        { Name: 'old-volume', Labels: of('test-1'), CreatedAt: hoursAgo(4).toISOString() },
        { Name: 'unlabelled', Labels: null, CreatedAt: hoursAgo(4).toISOString() },
      ],
    },
  }
  await removeLeftovers({ DOCKER_HOST: host }, () => {})
  assert.deepEqual(removed, ['DELETE /containers/old', 'DELETE /networks/old-network', 'DELETE /volumes/old-volume'])
})

test('an engine that cannot list its objects does not stop the tests', async (t) => {
  const host = await fakeEngine(t, (question) => (question === 'GET /_ping' ? 'OK' : undefined))
  /** @type {string[]} */
  const said = []
  await removeLeftovers({ DOCKER_HOST: host }, (line) => said.push(line))
  assert.match(said.join(), /could not be removed/)
})
