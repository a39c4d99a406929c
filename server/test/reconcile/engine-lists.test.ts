import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBerth } from '#test/support/berth.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { linkToEngine } from '#test/support/engine/faulty-engines.ts'

const every = 300

test('each run of the reconciler asks the engine for one list, and nothing looks for labels of one person', async (t) => {
  const { address, questions } = await linkToEngine(t)
  const berth = await startBerth(t, { engine: { address, ask: askEngine }, pace: { every, retire: 1 } })
  const admin = await berth.administrator()
  const ann = await berth.signUp('ann@x.org')
  const isList = (question: string) => question.startsWith('GET /containers/json') && !/%22id%22/.test(question)
  const lists = () => questions.filter(isList)
  const lastRun = async () => (await admin.call('GET', '/api/admin/system')).body.reconciler.last_run
  const networks = () => questions.filter((question) => question.startsWith('GET /networks'))
  const [before, networksBefore, runs] = [lists().length, networks().length, new Set([await lastRun()])]
  // What is done to one container, too: retired, blocked, launched anew, deleted.
  await ann.call('POST', '/api/container/stop/dev')
  await pollUntil(
    async () => (await ann.call('GET', '/api/container/status')).body.status === 'no_container',
    () => 'it is not retired',
  )
  await ann.call('POST', '/api/container/launch/dev')
  await admin.call('POST', `/api/admin/users/${ann.id}/block`)
  await admin.call('DELETE', `/api/admin/users/${ann.id}?purge=true`)
  await pollUntil(
    async () => runs.add(await lastRun()).size >= 4,
    () => `${runs.size} runs were seen`,
  )
  assert.deepEqual(
    lists().filter((question) => question.includes('user_id')),
    [],
  )
  // Each run looks at the networks once, after its list, and the launch once more. The last run may be between the two.
  const [seen, looks] = [lists().length - before, networks().length - networksBefore]
  assert.ok(seen >= 2 && seen <= looks + 1, `${seen} lists in ${looks} runs`)
})
