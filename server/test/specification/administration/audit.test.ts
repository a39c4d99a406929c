import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { after, test } from 'node:test'
import { AuditReader } from '#/admin/admin-lists.ts'
import { auditHandlers } from '#/http/handlers/admin-system-handlers.ts'
import { Refusal } from '#/refusals/errors.ts'
import {
  assertOk,
  assertRefused,
  blockContainer,
  blockUser,
  deleteUser,
  demote,
  instant,
  promote,
  recordOf,
  unblockUser,
} from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const [ann, deputy] = [
  await berth.signUpWithoutContainer('ann@x.org'),
  await berth.signUpWithoutContainer('deputy@x.org'),
]
assertOk(await promote(admin, deputy.id))
for (let time = 1; time <= 3; time++) {
  assertOk(await blockUser(deputy, ann.id))
  assertOk(await unblockUser(admin, ann.id))
}
const record = await recordOf(admin, ann.id)
assertOk(await blockContainer(deputy, record.id))

const audit = (query = '') => admin.call('GET', `/api/admin/audit${query}`)
const verify = (query = '') => admin.call('GET', `/api/admin/audit/verify${query}`)

test('the audit log has every entry with exactly the specified fields, the newest first', async () => {
  const reply = await audit()
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), ['entries', 'next_cursor'])
  assert.equal(reply.body.next_cursor, null)
  const { at, ...newest } = reply.body.entries[0]
  assert.match(at, instant)
  assert.deepEqual(newest, {
    id: 8,
    actor: { id: deputy.id, email: 'deputy@x.org' },
    action: 'container.block',
    target: `container:${record.id}`,
    detail: {
      user: ann.id,
      type: 'dev',
      before: { is_blocked: false, blocked_at: null, blocked_by: null },
      after: { is_blocked: true, blocked_at: at, blocked_by: deputy.id },
      address: '127.0.0.1',
    },
  })
  assert.deepEqual(
    reply.body.entries.map(({ id }: { id: number }) => id),
    [8, 7, 6, 5, 4, 3, 2, 1],
  )
})

test('limit and cursor lead through it, each entry once, also when entries are added meanwhile', async () => {
  const first = await audit('?limit=3')
  assert.deepEqual([first.body.entries.length, first.body.next_cursor], [3, '6'])
  assertOk(await blockUser(admin, ann.id))
  const second = await audit('?limit=3&cursor=6')
  const last = await audit(`?limit=3&cursor=${second.body.next_cursor}`)
  const ids = [first, second, last].flatMap(({ body }) => body.entries.map(({ id }: { id: number }) => id))
  assert.deepEqual(ids, [8, 7, 6, 5, 4, 3, 2, 1])
  assert.equal(last.body.next_cursor, null)
})

test('actor, action and target are matched exactly, an action also by its beginning, and together', async () => {
  const found = async (query: string) => {
    const reply = await audit(`?${query}`)
    assertOk(reply)
    return reply.body.entries.map(({ action, actor }: { action: string; actor: { email: string } }) =>
      [action, actor.email].join(' '),
    )
  }
  const deputys = ['container.block', 'user.block', 'user.block', 'user.block'].map((each) => `${each} deputy@x.org`)
  assert.deepEqual(await found(`actor=${deputy.id}`), deputys)
  assert.deepEqual(await found('actor=deputy@x.org'), deputys)
  assert.deepEqual(await found('action=user.promote'), ['user.promote boss@x.org'])
  assert.deepEqual(await found('action=container.'), ['container.block deputy@x.org'])
  assert.equal((await found('action=user.')).length, 8)
  assert.equal((await found(`target=user:${ann.id}`)).length, 7)
  assert.equal((await found(`target=user:${ann.id}&actor=boss@x.org&action=user.block`)).length, 1)
  for (const none of [
    'action=user',
    'action=use.',
    'action=user.bloc',
    'actor=deputy',
    'actor=DEPUTY@x.org',
    'actor=0',
  ])
    assert.deepEqual(await found(none), [], none)
  assert.deepEqual(await found(`target=user:${ann.id}0`), [])
})

test('since and until are a time of which the first instant is meant and the last is not; what is no instant is 400', async () => {
  const { entries } = (await audit()).body as { entries: { id: number; at: string }[] }
  const ids = async (query: string) => (await audit(`?${query}`)).body.entries.map(({ id }: { id: number }) => id)
  const [newest, oldest] = [entries[0], entries.at(-1)]
  const ofMoment = entries.filter(({ at }) => at === newest?.at).map(({ id }) => id)
  assert.deepEqual(await ids(`since=${newest?.at}`), ofMoment)
  assert.deepEqual((await ids(`until=${newest?.at}`)).length, entries.length - ofMoment.length)
  assert.deepEqual(await ids(`until=${oldest?.at}`), [])
  assert.equal((await ids(`since=${oldest?.at}&until=2999-01-01T00:00:00%2B02:00`)).length, entries.length)
  assert.deepEqual(await ids(`since=${oldest?.at}&action=user.promote`), [1])
  for (const none of ['since=yesterday', 'until=2026-11-21', 'since=2016-12-31T23:59:60Z', 'until='])
    assertRefused(await audit(`?${none}`), 400)
})

test('it names whom entries are about where that is asked for: users, and owners of containers, who are still there', async () => {
  const gone = await berth.signUpWithoutContainer('gone@x.org')
  assertOk(await deleteUser(admin, gone.id))
  assertOk(await audit('?names=false'))
  assert.deepEqual((await audit('?names=true&action=container.')).body.names, { [ann.id]: 'ann@x.org' })
  assert.deepEqual((await audit('?names=true&action=user.promote')).body.names, { [deputy.id]: 'deputy@x.org' })
  assert.deepEqual((await audit(`?names=true&target=user:${gone.id}`)).body.names, {})
  assert.equal('names' in (await audit('?names=false')).body, false)
})

test('a limit, cursor or filter that is none is 400', async () => {
  const limits = ['limit=0', 'limit=1001', 'limit=x', 'limit=-1', 'limit=1&limit=2', 'cursor=x', 'cursor=-1']
  const filters = ['actor=', 'action=', 'action=User', 'action=%25', 'target=', 'target=user', 'target=:1', 'names=yes']
  for (const query of [...limits, ...filters, `actor=${'x'.repeat(255)}`]) assertRefused(await audit(`?${query}`), 400)
  for (const query of ['entries=1', `head=${'0'.repeat(64)}`, 'entries=x&head=x'])
    assertRefused(await verify(`?${query}`), 400)
})

test('a log that is whole is verified, also against a head that was kept before more was added', async () => {
  const kept = await verify()
  assertOk(kept)
  assert.deepEqual(Object.keys(kept.body), ['entries', 'head', 'first_broken'])
  assert.deepEqual([kept.body.entries, kept.body.first_broken], [(await audit()).body.entries.length, null])
  assertOk(await unblockUser(admin, ann.id))
  const { entries, head } = kept.body
  const later = await verify(`?entries=${entries}&head=${head}`)
  assert.deepEqual([later.body.entries, later.body.first_broken], [entries + 1, null])
  const other = await verify(`?entries=${entries}&head=${'0'.repeat(64)}`)
  assert.deepEqual(other.body.first_broken, { id: entries, what: 'changed' })
})

test('verification ends when the client closes the connection', async () => {
  const { verifyAudit } = auditHandlers({ audit: new AuditReader(berth.database.db) })
  const raw = new EventEmitter()
  const verified = verifyAudit({ query: {}, reply: { raw } } as never)
  raw.emit('close')
  await assert.rejects(async () => verified, Refusal)
})

test('the audit log outlives the accounts in it, of actors and of targets', async () => {
  const actions = async (query: string) =>
    (await audit(query)).body.entries.map(({ action }: { action: string }) => action)
  const [ofAnn, byDeputy] = [await audit(`?target=user:${ann.id}`), await audit(`?actor=${deputy.id}`)]
  assertOk(await demote(admin, deputy.id))
  for (const { id } of [ann, deputy]) assertOk(await deleteUser(admin, id))
  assert.deepEqual((await audit(`?actor=${deputy.id}`)).body, byDeputy.body)
  assert.deepEqual((await audit(`?target=user:${ann.id}`)).body.entries.slice(1), ofAnn.body.entries)
  assert.deepEqual((await actions('')).slice(0, 3), ['user.delete', 'user.delete', 'user.demote'])
  assert.equal((await verify()).body.first_broken, null)
})
