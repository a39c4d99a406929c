import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { PreviewedMember, TermEndMember } from '@berth/api/schemas/groups/term-end.ts'
import { homeVolume } from '#/containers/container-name.ts'
import { findUser } from '#/store/users.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import type { Signed } from '#test/support/group-berth.ts'
import { archiveTokenIn, inDays, startTermEndBerth } from '#test/support/term-end-berth.ts'

/** The end of a group's term: what is archived, mailed and removed, and what stays. */
const world = await startTermEndBerth({ after })
const { berth, boss, engine, homes, signUp, group, launch, end, until, mailsTo, comeTo } = world
const exists = async ({ id }: Signed) => (await findUser(berth.database.db, id)) !== undefined
const preview = async (id: number, query = '') =>
  (await boss.call('GET', `/api/admin/groups/${id}/term-end/preview${query}`)).body
const isDone = ({ phase }: { phase: string }) => phase === 'done'
const volumeOf = async ({ id }: Signed, type: string) => {
  const user = await findUser(berth.database.db, id)
  assert.ok(user)
  return homeVolume('engineless', id, user.slug, type)
}
const open = (token: string) => berth.call('POST', '/api/archives', { body: { token } })
/** Downloads as the page does. */
async function download(token: string, type: string): Promise<Buffer> {
  const begun = await berth.call('POST', '/api/archives/download', { body: { token, type } })
  assertOk(begun)
  const response = await fetch(berth.url + begun.body.path)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/gzip')
  assert.match(response.headers.get('content-disposition') ?? '', /^attachment; filename="[\w.-]+\.tar\.gz"$/)
  assert.equal((await fetch(berth.url + begun.body.path)).status, 404, 'a ticket is good once')
  return gunzipSync(Buffer.from(await response.arrayBuffer()))
}

test('what a member has in nothing else is archived, mailed and removed; what another group, a role or a block keeps stays', async () => {
  const [ann, ben, tom, eva] = [
    await signUp('ann@x.org'),
    await signUp('ben@x.org'),
    await signUp('tom@x.org'),
    await signUp('eva@x.org'),
  ]
  const { id } = await group({ name: 'Course A', types: ['lab', 'dev'] }, [ann, ben, eva, boss], [tom])
  await group({ name: 'Course B', types: ['lab'] }, [ben])
  for (const type of ['lab', 'dev']) for (const user of [ann, ben, tom]) assertOk(await launch(user, type))
  assertOk(await boss.call('POST', `/api/admin/users/${eva.id}/block`))

  const seen = await preview(id)
  const { members, accounts, staying, untouched, containers, homes: count, has_room } = seen.sums
  assert.deepEqual([members, accounts, staying, untouched, containers, count, has_room], [5, 1, 1, 3, 3, 3, true])
  const outcomes = (seen.members as PreviewedMember[]).map((each) => [
    each.user.email,
    each.outcome,
    each.reason,
    each.keeps,
  ])
  assert.deepEqual(outcomes, [
    ['boss@x.org', 'untouched', 'administrator', []],
    ['ann@x.org', 'removed', null, []],
    ['ben@x.org', 'stays', 'group', ['lab']],
    ['tom@x.org', 'untouched', 'manager', []],
    ['eva@x.org', 'untouched', 'blocked', []],
  ])
  assert.equal((await preview(id, '?keep_accounts=true')).sums.accounts, 0)
  // The first sign-in has started `dev` of all, also of the administrator.
  assert.equal(engine.running.length, 7, 'a preview changes nothing')

  const bensLab = await volumeOf(ben, 'lab')
  const annsLab = await volumeOf(ann, 'lab')
  const annsFiles = homes.contents.get(annsLab)
  await end(id)
  const { counts, archives } = await until(id, isDone)
  assert.deepEqual([counts.done, archives], [2, 3])
  assert.deepEqual(
    [await exists(ann), await exists(ben), await exists(tom), await exists(eva)],
    [false, true, true, true],
  )
  assert.equal(homes.contents.has(bensLab), true)
  assert.equal(homes.contents.has(await volumeOf(ben, 'dev')), false)
  assert.equal(homes.contents.has(annsLab), false)
  assert.equal(homes.contents.has(await volumeOf(tom, 'dev')), true)
  // Those of managers and administrators stop with the group, as at any end of a group.
  assert.deepEqual(engine.running, [`lab of ${ben.id}`])
  assert.deepEqual(
    (await ben.call('GET', '/api/groups')).body.groups.map(({ name }: { name: string }) => name),
    ['Course B'],
  )

  const [mail, ...further] = mailsTo(ann)
  assert.equal(further.length, 0)
  assert.match(mail?.text ?? '', /ann@x\.org and its files .* removed/)
  assert.doesNotMatch(mailsTo(ben)[0]?.text ?? '', /are removed/)
  const token = archiveTokenIn(mail)
  const opened = await open(token)
  assert.deepEqual(
    opened.body.archives.map(({ type, display_name: name }: Record<string, string>) => `${type}: ${name}`),
    ['dev: dev', 'lab: lab'],
  )
  assert.equal(opened.text.includes('ann@x.org'), false, 'the address is not shown to the holder of a link')
  assert.equal((await download(token, 'lab')).toString(), annsFiles)
  assertRefused(await berth.call('POST', '/api/archives/download', { body: { token, type: 'prod' } }), 404)
  assertRefused(await open(`${token.slice(0, -2)}xx`), 404)
  const audit = (await boss.call('GET', `/api/admin/audit?target=user:${ann.id}`)).body.entries
  assert.deepEqual(
    (audit as { action: string; actor: { email: string } }[]).map(({ action, actor }) => [action, actor.email]),
    [
      ['user.download-archive', 'link of an archive'],
      ['user.delete', 'boss@x.org'],
    ],
  )
})

test('until its removal it can be cancelled: links lead nowhere, archives are deleted, and the group goes on', async () => {
  const cid = await signUp('cid@x.org')
  const { id } = await group({ name: 'Cancelled', types: ['lab'], expires_at: inDays(50) }, [cid])
  assertOk(await launch(cid, 'lab'))
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  assertRefused(await launch(cid, 'lab'), 403)
  const token = archiveTokenIn(mailsTo(cid)[0])
  assertOk(await open(token))
  assertRefused(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null }), 409)
  assertRefused(await boss.call('DELETE', `/api/admin/groups/${id}`), 409)
  assertRefused(await boss.call('POST', `/api/admin/groups/${id}/term-end`, { keep_until: inDays(30) }), 409)
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/cancel`))
  assertRefused(await open(token), 404)
  assert.equal(await world.progress(id), null)
  assertOk(await launch(cid, 'lab'))
  const { expires_at } = (await boss.call('GET', `/api/admin/groups/${id}`)).body.group
  assert.ok(new Date(expires_at) > new Date(inDays(49)))
  assertRefused(await boss.call('POST', `/api/admin/groups/${id}/term-end/cancel`), 409)
})

test('after its removal it cannot be cancelled, and nothing is left to go on with', async () => {
  const { id } = await group({ name: 'Empty' })
  await end(id)
  await until(id, isDone)
  assertRefused(await boss.call('POST', `/api/admin/groups/${id}/term-end/cancel`), 409)
  assertRefused(await boss.call('POST', `/api/admin/groups/${id}/term-end/retry`), 409)
})

// "Go on" took homes and accounts of members who worked in the group again, in the middle of its next term.
test('what failed is not gone on with while the group goes on', async () => {
  const lou = await signUp('lou@x.org')
  const { id } = await group({ name: 'Next term', types: ['lab', 'dev'] }, [lou])
  assertOk(await launch(lou, 'lab'))
  const volume = await volumeOf(lou, 'lab')
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  const { db } = berth.database
  await db.updateTable('term_ends').set({ phase: 'done' }).where('group_id', '=', id).execute()
  await db.updateTable('term_end_members').set({ state: 'failed' }).where('user_id', '=', lou.id).execute()
  const retry = () => boss.call('POST', `/api/admin/groups/${id}/term-end/retry`)
  for (const expires_at of [null, inDays(90)]) {
    assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at }))
    const refused = await retry()
    assertRefused(refused, 409)
    assert.match(refused.body.error, /^The group has been given a later end or none/)
  }
  const { phase, counts } = await until(id, () => true)
  assert.deepEqual([phase, counts.failed], ['done', 1])
  assert.deepEqual([await exists(lou), homes.contents.has(volume)], [true, true])

  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: inDays(-1) }))
  await comeTo('remove_at', id)
  assertOk(await retry())
  await until(id, isDone)
  assert.deepEqual([await exists(lou), homes.contents.has(volume)], [false, false])
})

test('a home that was used after its archive was made is archived again before it is removed', async () => {
  const dan = await signUp('dan@x.org')
  const { id } = await group({ name: 'Used again', types: ['lab', 'dev'] }, [dan])
  assertOk(await launch(dan, 'lab'))
  const volume = await volumeOf(dan, 'lab')
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  const other = await group({ name: 'For a moment', types: ['lab'] }, [dan])
  assertOk(await launch(dan, 'lab'))
  homes.contents.set(volume, 'the last page of the thesis')
  assertOk(await boss.call('DELETE', `/api/groups/${other.id}/members/${dan.id}`))
  await comeTo('remove_at', id)
  await until(id, isDone)
  assert.equal(await exists(dan), false)
  assert.equal(mailsTo(dan).length, 1, 'one mail, whose link shows the new archive')
  assert.equal((await download(archiveTokenIn(mailsTo(dan)[0]), 'lab')).toString(), 'the last page of the thesis')
})

test('a member who has left the group before the removal keeps account and home', async () => {
  const lea = await signUp('lea@x.org')
  const { id } = await group({ name: 'Left', types: ['lab', 'dev'] }, [lea])
  const volume = await volumeOf(lea, 'dev')
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${lea.id}`))
  await comeTo('remove_at', id)
  assert.equal((await until(id, isDone)).counts.kept, 1)
  assert.deepEqual([await exists(lea), homes.contents.has(volume)], [true, true])
})

test('an administrator who is none any more removes nothing; another one has it go on', async () => {
  const [max, sue] = [await signUp('max@x.org'), await signUp('sue@x.org')]
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/promote`))
  const { id } = await group({ name: 'Demoted', types: ['lab', 'dev'] }, [max])
  const body = { keep_until: inDays(30), remove_at: inDays(7) }
  assertOk(await sue.call('POST', `/api/admin/groups/${id}/term-end`, body))
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/demote`))
  await comeTo('remove_at', id)
  await until(id, ({ phase, problem }) => phase === 'removing' && problem === 'administrator')
  assert.equal(await exists(max), true)
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/retry`))
  await until(id, isDone)
  assert.equal(await exists(max), false)
})

test('a member who becomes an administrator before the removal stays as they are', async () => {
  const fay = await signUp('fay@x.org')
  const { id } = await group({ name: 'Promoted', types: ['lab'] }, [fay])
  assertOk(await launch(fay, 'lab'))
  const volume = await volumeOf(fay, 'lab')
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  assertOk(await boss.call('POST', `/api/admin/users/${fay.id}/promote`))
  await comeTo('remove_at', id)
  assert.equal((await until(id, isDone)).counts.kept, 1)
  assert.deepEqual([await exists(fay), homes.contents.has(volume)], [true, true])
})

test('a home that cannot be read keeps its owner, and the end of term goes on for the others', async () => {
  const [gus, hal] = [await signUp('gus@x.org'), await signUp('hal@x.org')]
  const { id } = await group({ name: 'Unreadable', types: ['lab', 'dev'] }, [gus, hal])
  for (const user of [gus, hal]) assertOk(await launch(user, 'lab'))
  const volume = await volumeOf(gus, 'lab')
  let isBroken = true
  homes.beforeRead = (read) => {
    if (read === volume && isBroken) throw new Error('input/output error')
  }
  await end(id)
  const seen = await until(id, ({ counts }) => counts.mailed === 1)
  assert.deepEqual([seen.phase, seen.counts.waiting], ['archiving', 1])
  const textOf = ({ user, state, problem }: TermEndMember) => `${user.email} ${state} ${problem}`
  const list = `/api/admin/groups/${id}/term-end/members`
  const notes = async () => ((await boss.call('GET', list)).body.members as TermEndMember[]).map(textOf).join()
  const isNoted = async () => (await notes()) === 'gus@x.org waiting archive,hal@x.org mailed null'
  // Either may be first.
  await pollUntil(isNoted, () => 'both are noted')
  isBroken = false
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/retry`))
  await until(id, isDone)
  assert.deepEqual([await exists(gus), await exists(hal)], [false, false])
})

test('while the disk of the archives is full it waits, says so, and goes on by itself', async () => {
  const ida = await signUp('ida@x.org')
  const { id } = await group({ name: 'Full', types: ['lab', 'dev'] }, [ida])
  assertOk(await launch(ida, 'lab'))
  homes.beforeRead = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  await end(id)
  await until(id, ({ problem }) => problem === 'disk')
  assert.equal(await exists(ida), true)
  homes.beforeRead = () => undefined
  assert.equal((await until(id, isDone)).problem, null)
  assert.equal(await exists(ida), false)
})

test('dates that contradict each other are refused, and who is no administrator gets nothing', async () => {
  const jan = await signUp('jan@x.org')
  const { id } = await group({ name: 'Dates' }, [], [jan])
  const target = `/api/admin/groups/${id}/term-end`
  for (const body of [
    { keep_until: inDays(-1) },
    { keep_until: inDays(3), remove_at: inDays(4) },
    { keep_until: inDays(3_000) },
    // `Date` reads neither: the removal began at once.
    ...['2096-08-07T00:00:00+01', '2096-12-31T23:59:60Z'].map((remove_at) => ({ keep_until: inDays(30), remove_at })),
  ])
    assertRefused(await boss.call('POST', target, body), 400)
  assertRefused(await jan.call('POST', target, { keep_until: inDays(30) }), 403)
  assertRefused(await boss.call('POST', '/api/admin/groups/4711/term-end', { keep_until: inDays(30) }), 404)
})

test('after their date archives are deleted with the addresses, and the link leads nowhere', async () => {
  const kim = await signUp('kim@x.org')
  const { id } = await group({ name: 'Over', types: ['lab', 'dev'] }, [kim])
  assertOk(await launch(kim, 'lab'))
  await end(id)
  await until(id, isDone)
  const token = archiveTokenIn(mailsTo(kim)[0])
  await comeTo('keep_until', id)
  await assertGone(id)
  assertRefused(await open(token), 404)
  const rows = await berth.database.db.selectFrom('term_end_members').select('email').execute()
  assert.ok(!rows.some(({ email }) => email === 'kim@x.org'))
})

test('once it is over for a member, their archives and address are deleted before the date when they ask for it', async () => {
  const [nia, oli] = [await signUp('nia@x.org'), await signUp('oli@x.org')]
  const { id } = await group({ name: 'Forgotten', types: ['lab', 'dev'] }, [nia, oli])
  const forget = (user: number | string) => boss.call('DELETE', `/api/admin/groups/${id}/term-end/members/${user}`)
  assertRefused(await forget(nia.id), 409)
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 2)
  assertRefused(await forget(nia.id), 409)
  await comeTo('remove_at', id)
  await until(id, isDone)
  const token = archiveTokenIn(mailsTo(nia)[0])
  assertOk(await open(token))
  assertOk(await forget(nia.id))
  assertRefused(await open(token), 404)
  for (const other of [nia.id, 4711, 'x']) assertRefused(await forget(other), 404)
  const { members } = (await boss.call('GET', `/api/admin/groups/${id}/term-end/members`)).body
  assert.deepEqual(
    (members as TermEndMember[]).map(({ user }) => user.email),
    ['oli@x.org'],
  )
  assertOk(await open(archiveTokenIn(mailsTo(oli)[0])))
  assert.equal(archivesOnDisk(await folderOf(id)), 1)
})

// The archives of an account that an administrator deleted stayed until their date, and the address with them.
test('an account that is deleted takes its archives, links and address of an end of term along', async () => {
  const [pia, quin] = [await signUp('pia@x.org'), await signUp('quin@x.org')]
  const { id } = await group({ name: 'Erased', types: ['lab', 'dev'] }, [pia, quin])
  await end(id, { keep_accounts: true })
  await until(id, isDone)
  const token = archiveTokenIn(mailsTo(pia)[0])
  assert.equal(archivesOnDisk(await folderOf(id)), 2)
  assertOk(await boss.call('DELETE', `/api/admin/users/${pia.id}`))
  assertRefused(await open(token), 404)
  assert.equal(archivesOnDisk(await folderOf(id)), 1)
  const rows = await berth.database.db.selectFrom('term_end_members').select('email').execute()
  assert.deepEqual(
    ['pia@x.org', 'quin@x.org'].map((address) => rows.some(({ email }) => email === address)),
    [false, true],
  )
  assertOk(await open(archiveTokenIn(mailsTo(quin)[0])))
})

// A block closed everything but the link that had been mailed before it.
test('while a member is blocked, the link to their archives opens nothing', async () => {
  const ria = await signUp('ria@x.org')
  const { id } = await group({ name: 'Blocked', types: ['lab', 'dev'] }, [ria])
  await end(id, { remove_at: inDays(7) })
  await until(id, ({ counts }) => counts.mailed === 1)
  const token = archiveTokenIn(mailsTo(ria)[0])
  assertOk(await open(token))
  assertOk(await boss.call('POST', `/api/admin/users/${ria.id}/block`))
  assertRefused(await open(token), 404)
  assertRefused(await berth.call('POST', '/api/archives/download', { body: { token, type: 'dev' } }), 404)
  assertOk(await boss.call('POST', `/api/admin/users/${ria.id}/unblock`))
  assertOk(await open(token))
})

const archivesOnDisk = (folder: string) => readdirSync(path.join(berth.dataDir, 'archives', folder)).length

/** Of the archives of the group's end of term. */
async function folderOf(groupId: number): Promise<string> {
  const { id } = await berth.database.db
    .selectFrom('term_ends')
    .select('id')
    .where('group_id', '=', groupId)
    .executeTakeFirstOrThrow()
  const folder = readdirSync(path.join(berth.dataDir, 'archives')).find((name) => name.startsWith(`${id}-`))
  assert.ok(folder)
  return folder
}

async function assertGone(id: number): Promise<void> {
  const kept = await folderOf(id)
  const folder = path.join(berth.dataDir, 'archives')
  await pollUntil(
    () => !readdirSync(folder).includes(kept),
    () => 'the folder is still there',
  )
}
