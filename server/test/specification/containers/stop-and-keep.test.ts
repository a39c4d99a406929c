import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertOk,
  assertRefused,
  blockContainer,
  blockUser,
  engineState,
  recordOf,
  unblockUser,
} from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { pollUntil } from '../../support/control-plane.ts'
import { openStream } from '../../support/event-stream.ts'
import { get } from '../../support/gateway/raw-client.ts'

const berth = await startBerth({ after })
const admin = await berth.administrator()

const stop = (person: Pick<Person, 'call'>, type = 'dev') => person.call('POST', `/api/container/stop/${type}`)
const keep = (person: Pick<Person, 'call'>, type = 'dev') => person.call('POST', `/api/container/keep/${type}`)
const idOf = (person: Person) => String(person.auth.user.container_id)
/** What an open tab of the application asks for, and what opens a page. */
const askFromTab = (person: Person) => person.call('GET', `/${person.slug}-dev/`)
const visit = ({ slug, token }: Person) =>
  get(berth.app.port, `/${slug}-dev/`, { headers: { authorization: `Bearer ${token}`, accept: 'text/html' } })

test('an owner stops their container: their pages hear it, a visit wakes it and an open tab does not, a launch starts it, and twice is no harm', async () => {
  const begun = Date.now()
  const ann = await berth.signUp('ann@x.org')
  const stream = await openStream(berth, ann.token)
  assertOk(await stop(ann))
  assert.equal(await engineState(berth, idOf(ann)), 'exited')
  await pollUntil(
    () => stream.lines().includes('container dev asleep'),
    () => stream.text(),
  )
  stream.close()
  const { since, why } = stream.events.at(-1)?.data ?? {}
  assert.deepEqual([why, Date.parse(String(since)) >= begun], ['owner', true])
  assertOk(await stop(ann))
  const answer = await askFromTab(ann)
  assert.equal(answer.status, 503)
  assert.match(answer.body.error, /is stopped/)
  assert.equal(await engineState(berth, idOf(ann)), 'exited')
  await pollUntil(
    async () => (await visit(ann)).status === 200,
    () => 'a visit does not wake it',
  )
  assertOk(await stop(ann))
  assertOk(await ann.call('POST', '/api/container/launch/dev'))
  assert.equal(await engineState(berth, idOf(ann)), 'running')
})

test('what was never launched is stopped as well as kept, and a takeover does both, as it launches', async () => {
  const bob = await berth.signUp('bob@x.org')
  assertOk(await stop(bob, 'prod'))
  assert.equal((await keep(bob, 'prod')).body.until, null)
  const taken = await admin.call('POST', `/api/admin/users/${bob.id}/takeover`, { body: { reason: 'Bob asked' } })
  const token: string = taken.body.access_token
  assert.equal((await berth.call('POST', '/api/container/keep/dev', { token })).status, 200)
  assertOk(await berth.call('POST', '/api/container/stop/dev', { token }))
  assert.equal(await engineState(berth, idOf(bob)), 'exited')
  const later = await openStream(berth, bob.token)
  await pollUntil(
    () => later.events.some(({ data }) => data.why === 'administrator'),
    () => later.text(),
  )
  later.close()
})

test('what waits to be started again, as after a restart of the engine, stays stopped when its owner stops it', async () => {
  const dan = await berth.signUp('dan@x.org')
  assertOk(await stop(dan))
  const { db } = berth.database
  await db.updateTable('user_containers').set({ running_since: 1 }).where('user_id', '=', dan.id).execute()
  assertOk(await stop(dan))
  const rows = await db.selectFrom('user_containers').select('running_since').where('user_id', '=', dan.id).execute()
  assert.deepEqual(
    rows.map((row) => row.running_since),
    [null],
  )
})

test('an unknown type is 400, no token 401, a blocked container or account 403 with its date, as launch says', async () => {
  const cat = await berth.signUpWithoutContainer('cat@x.org')
  for (const ask of [stop, keep]) {
    assertRefused(await ask(cat, 'nope'), 400)
    assertRefused(await ask(cat, '__proto__'), 400)
    assertRefused(await ask(berth), 401)
  }
  assertOk(await blockContainer(admin, (await recordOf(admin, cat.id)).id))
  for (const ask of [stop, keep]) {
    const refused = await ask(cat)
    assertRefused(refused, 403, ['blocked_at'])
    assert.deepEqual(refused.body, (await cat.call('POST', '/api/container/launch/dev')).body)
  }
  assertOk(await blockUser(admin, cat.id))
  for (const ask of [stop, keep]) assertRefused(await ask(cat, 'prod'), 403, ['blocked_at'])
  assertOk(await unblockUser(admin, cat.id))
})
