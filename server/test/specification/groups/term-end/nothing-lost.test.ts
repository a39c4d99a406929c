import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import type { TermEndMember } from '@berth/api/schemas/groups/term-end.ts'
import { homeVolume } from '#/containers/container-name.ts'
import { findUser } from '#/store/users.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import type { Signed } from '#test/support/group-berth.ts'
import { archiveTokenIn, inDays, startTermEndBerth } from '#test/support/term-end-berth.ts'

/** What would be lost by an end of term that is delayed, cancelled or overtaken by what people do meanwhile. */
const world = await startTermEndBerth({ after }, { env: { SNAPSHOTS: 'on' } })
const { berth, boss, signUp, group, launch, end, until, homes, mailsTo, comeTo } = world
const { db } = berth.database
const exists = async ({ id }: Signed) => (await findUser(db, id)) !== undefined
const isDone = ({ phase }: { phase: string }) => phase === 'done'
async function volumeOf({ id }: Signed, type: string): Promise<string> {
  const user = await findUser(db, id)
  assert.ok(user)
  return homeVolume('engineless', id, user.slug, type)
}
/** What the holder of the mailed link gets. */
async function archived(user: Signed, type: string): Promise<string> {
  const [mail, ...further] = mailsTo(user)
  assert.equal(further.length, 0, 'one mail, whose link shows the last archive')
  const begun = await berth.call('POST', '/api/archives/download', { body: { token: archiveTokenIn(mail), type } })
  assertOk(begun)
  return gunzipSync(await (await fetch(berth.url + begun.body.path)).bytes()).toString('latin1')
}
const folders = () => readdirSync(path.join(berth.dataDir, 'archives'))

// The administrator was demoted for the summer; promoted again in autumn, the removal went on, and the archives with it.
test('what is not removed by the date of the archives stays, and is said to', async () => {
  const [ann, sue] = [await signUp('ann@x.org'), await signUp('sue@x.org')]
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/promote`))
  const { id } = await group({ name: 'Late', types: ['lab', 'dev'] }, [ann])
  assertOk(await launch(ann, 'lab'))
  const target = `/api/admin/groups/${id}/term-end`
  assertOk(await sue.call('POST', target, { remove_at: inDays(7), keep_until: inDays(30) }))
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/demote`))
  await until(id, ({ counts }) => counts.mailed === 1)
  await comeTo('remove_at', id)
  await until(id, ({ problem }) => problem === 'administrator')
  await comeTo('keep_until', id)
  const { counts } = await until(id, isDone)
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/promote`))
  assert.equal(counts.failed, 1)
  const { members } = (await boss.call('GET', `${target}/members`)).body
  assert.deepEqual(
    (members as TermEndMember[]).map(({ state, problem, archives }) => [state, problem, archives]),
    [['failed', 'late', []]],
  )
  await pollUntil(
    () => folders().length === 0,
    () => `archives are left: ${folders()}`,
  )
  assert.deepEqual([await exists(ann), homes.contents.size > 0], [true, true])
  assertRefused(await boss.call('POST', `${target}/retry`), 409)
  // Another one begins from the start.
  assertOk(await boss.call('POST', target, { keep_until: inDays(30) }))
  await until(id, ({ counts: { done } }) => done === 1)
  assert.equal(await exists(ann), false)
})

// An upload is no start of a container: the archive of the day before counted as the present state of the home.
test('files that are uploaded after the archive was made are archived before the home is removed', async () => {
  const ben = await signUp('ben@x.org')
  const { id } = await group({ name: 'Upload', types: ['lab', 'dev'] }, [ben])
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  const files = await packTar([
    { header: { name: 'thesis.txt', type: 'file', size: 13 }, body: new TextEncoder().encode('the last page') },
  ])
  const sent = await fetch(`${berth.url}/api/container/upload/dev`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ben.token}`, 'content-type': 'application/x-tar' },
    body: Buffer.from(files),
  })
  assert.equal(sent.status, 200, await sent.text())
  await comeTo('remove_at', id)
  await until(id, isDone)
  assert.equal(await exists(ben), false)
  assert.match(await archived(ben, 'dev'), /the last page/)
})

// Its member was archived and planned in turns for ever, because the record never was the archived one again.
test('of a home that is gone after it was used again the earlier archive stays, and the end of term is done', async () => {
  const cid = await signUp('cid@x.org')
  const { id } = await group({ name: 'Gone', types: ['lab', 'dev'] }, [cid])
  assertOk(await launch(cid, 'lab'))
  const volume = await volumeOf(cid, 'lab')
  const files = homes.contents.get(volume)
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  const other = await group({ name: 'For a moment', types: ['lab'] }, [cid])
  assertOk(await launch(cid, 'lab'))
  assertOk(await boss.call('DELETE', `/api/groups/${other.id}/members/${cid.id}`))
  homes.contents.delete(volume)
  await comeTo('remove_at', id)
  await until(id, isDone)
  assert.equal(await exists(cid), false)
  assert.equal(await archived(cid, 'lab'), files)
})

test('an end of term whose administrator is deleted removes nothing, and keeps no address of theirs', async () => {
  const [eva, jim] = [await signUp('eva@x.org'), await signUp('jim@x.org')]
  assertOk(await boss.call('POST', `/api/admin/users/${jim.id}/promote`))
  const { id } = await group({ name: 'Orphaned', types: ['lab', 'dev'] }, [eva])
  assertOk(await jim.call('POST', `/api/admin/groups/${id}/term-end`, { remove_at: inDays(7), keep_until: inDays(30) }))
  assertOk(await boss.call('DELETE', `/api/admin/users/${jim.id}`))
  await comeTo('remove_at', id)
  const { started_by } = await until(id, ({ problem }) => problem === 'administrator')
  assert.deepEqual([started_by, await exists(eva)], [`user:${jim.id}`, true])
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/retry`))
  assert.equal((await until(id, isDone)).started_by, 'boss@x.org')
  assert.equal(await exists(eva), false)
})
