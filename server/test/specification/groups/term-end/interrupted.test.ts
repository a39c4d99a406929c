import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { DiskNearlyFull } from '#/machine/disk-room.ts'
import { findUser } from '#/store/users.ts'
import { assertOk } from '#test/support/api-calls.ts'
import { startEnginelessBerth } from '#test/support/berth-without-engine.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { groupTemplates } from '#test/support/group-berth.ts'
import { archiveTokenIn, startTermEndBerth } from '#test/support/term-end-berth.ts'
import { quickFolder } from '#test/support/store/empty-store.ts'

/** Ends of terms that are interrupted. That no step is lost when a process is killed is tested in `chaos/`. */

test('an end of term goes on after a restart where it was: what is archived is not read again, and each gets one mail', async (t) => {
  const dataDir = await mkdtemp(path.join(quickFolder(), 'berth-test-'))
  after(() => rm(dataDir, { recursive: true, force: true }))
  const { berth, boss, engine, homes, signUp, group, end, until, mailsTo } = await startTermEndBerth(t, { dataDir })
  const users = []
  for (const name of ['ann', 'ben', 'cid']) users.push(await signUp(`${name}@x.org`))
  const { id } = await group({ name: 'Course' }, users)
  const read: string[] = []
  homes.beforeRead = (volume) => {
    read.push(volume)
    // The second is under way when the process ends, and has not begun to arrive.
    if (read.length > 1) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  await end(id)
  await until(id, ({ counts, problem }) => counts.mailed === 1 && problem === 'disk')
  const bossId = boss.id
  await berth.close()
  const first = new Set(read.slice(0, 1))
  read.length = 0
  homes.beforeRead = (volume) => void read.push(volume)
  const next = await startEnginelessBerth(t, {
    dataDir,
    runtime: homes.over(engine.runtime),
    pace: { every: 100 },
    env: { CONTAINER_TEMPLATES: JSON.stringify(groupTemplates) },
  })
  const { db } = next.database
  const phase = async () => (await db.selectFrom('term_ends').select('phase').executeTakeFirst())?.phase
  await pollUntil(
    async () => (await phase()) === 'done',
    () => next.logs.slice(-5).join(''),
  )
  assert.deepEqual(
    read.filter((volume) => first.has(volume)),
    [],
  )
  const mails = [...users.flatMap(mailsTo), ...next.mails]
  assert.deepEqual(mails.map(({ to }) => to).toSorted(), ['ann@x.org', 'ben@x.org', 'cid@x.org'])
  for (const user of users) assert.equal(await findUser(db, user.id), undefined)
  assert.ok(await findUser(db, bossId))
  const body = { token: archiveTokenIn(mails[0]) }
  assertOk(await next.call('POST', '/api/archives', { body }))
})

test('without an accepted mail nothing is removed; a restart of the mail server is enough', async (t) => {
  const refusesMail = { active: false }
  const { berth, homes, signUp, group, end, until, mailsTo, boss } = await startTermEndBerth(t, { refusesMail })
  const ann = await signUp('ann@x.org')
  const { id } = await group({ name: 'Course' }, [ann])
  refusesMail.active = true
  await end(id)
  await until(id, ({ counts }) => counts.archived === 1)
  assert.ok(await findUser(berth.database.db, ann.id))
  assert.equal(homes.contents.size, 2)
  refusesMail.active = false
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/retry`))
  await until(id, ({ phase }) => phase === 'done')
  assert.equal(mailsTo(ann).length, 1)
  assertOk(await berth.call('POST', '/api/archives', { body: { token: archiveTokenIn(mailsTo(ann)[0]) } }))
  assert.equal(await findUser(berth.database.db, ann.id), undefined)
})

// The batch went on after it: members got mails with links that led nowhere.
test('a cancellation while homes are read leaves no archive, reads no further home and mails no link', async (t) => {
  const { berth, boss, homes, signUp, group, end, mailsTo } = await startTermEndBerth(t)
  const users = []
  for (const name of ['ann', 'ben', 'cid', 'dan']) users.push(await signUp(`${name}@x.org`))
  const { id } = await group({ name: 'Course' }, users)
  let read = 0
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  homes.beforeRead = () => {
    read++
    begun.resolve()
    return goOn.promise
  }
  await end(id)
  await begun.promise
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/cancel`))
  goOn.resolve()
  await pollUntil(
    async () => (await berth.database.db.selectFrom('term_ends').select('id').execute()).length === 0,
    () => 'the row of the end of term is still there',
  )
  assert.deepEqual(readdirSync(path.join(berth.dataDir, 'archives')), [])
  for (const user of users) assert.ok(await findUser(berth.database.db, user.id))
  assert.deepEqual(users.flatMap(mailsTo), [])
  assert.ok(read <= 2, `${read} homes were read`)
})

test('a home that alone takes the room of the disk of archives is left for later, and the others are archived', async (t) => {
  const { boss, homes, signUp, launch, group, end, until } = await startTermEndBerth(t)
  const [ina, ivo] = [await signUp('ina@x.org'), await signUp('ivo@x.org')]
  const { id } = await group({ name: 'Holes', types: ['lab', 'dev'] }, [ina, ivo])
  for (const each of [ina, ivo]) assertOk(await launch(each, 'lab'))
  homes.beforeRead = (volume) => {
    if (volume.includes(`-home-${ina.id}-`)) throw new DiskNearlyFull('the reserve of the disk is reached')
  }
  await end(id)
  const { problem } = await until(id, ({ counts }) => counts.mailed === 1)
  const members = (await boss.call('GET', `/api/admin/groups/${id}/term-end/members`)).body.members
  assert.deepEqual(
    (members as { user: { email: string }; state: string; problem: string | null }[]).map((member) => [
      member.user.email,
      member.state,
      member.problem,
    ]),
    [
      ['ina@x.org', 'waiting', 'archive'],
      ['ivo@x.org', 'mailed', null],
    ],
  )
  assert.equal(problem, null)
  homes.beforeRead = () => undefined
  assertOk(await boss.call('POST', `/api/admin/groups/${id}/term-end/retry`))
  await until(id, ({ phase }) => phase === 'done')
})
