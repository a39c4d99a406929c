import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'
import { openDatabase } from '#/store/database.ts'
import { setMember } from '#/store/group-members.ts'
import { insertGroup, localSource, type Group } from '#/store/groups.ts'
import { insertUser } from '#/store/users.ts'
import { copyEmptyStore, quickFolder } from '#test/support/store/empty-store.ts'
import { GroupHours } from './group-hours.ts'

const folder = await mkdtemp(path.join(quickFolder(), 'berth-hours-'))
await copyEmptyStore(folder)
const database = await openDatabase(null, folder)
after(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})
const now = new Date('2026-11-23T00:00:00Z')
const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
const fields = { name: 'Physics', description: '', types: ['lab'], limits, expiresAt: null, source: localSource }
const physics = await insertGroup(database.db, { ...fields, createdAt: now })
assert.ok(physics)
const ids: Record<string, number> = {}
for (const [slug, role] of [
  ['ann', 'member'],
  ['ben', 'member'],
  ['tom', 'manager'],
] as const) {
  const { id } = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
  ids[slug] = id
  await setMember(database.db, { groupId: physics.id, userId: id, role, source: localSource, now })
}
const lessons = [{ days: [1, 2, 3, 4, 5], minutes: 8 * 60, type: 'lab' }]
const timetable = { timeZone: 'Europe/Berlin', lessons, stopAt: 22 * 60, exceptions: [] }

function arrange(t: TestContext, timed: readonly Group[], begun: string) {
  const engine = { isAway: false }
  const ended: string[] = []
  t.mock.timers.enable({ apis: ['setInterval'] })
  const seen: string[] = []
  let time = Date.parse(begun)
  const nameOf = (id: number) => Object.keys(ids).find((name) => ids[name] === id)
  const hours = new GroupHours({
    db: database.db,
    directory: { timed },
    templates: new Templates([readTemplate('lab', { image: 'x' }).template ?? assert.fail()]),
    parallelStops: 8,
    prestart: { run: async ({ id }, { type }) => (seen.push(`start ${type} ${nameOf(id)}`), true) },
    occupantsOf: (userId) => ['lab', 'dev'].map((type) => ({ userId, type })),
    stop: async ({ userId, type }) => {
      if (engine.isAway) throw new Error('the engine does not answer')
      return seen.push(`stop ${type} ${nameOf(userId)}`) > 0
    },
    warnings: {
      warnOfLimit: ({ userId }, source, at) => void seen.push(`warn ${source} ${nameOf(userId)} ${at.toISOString()}`),
      endOfLimit: ({ userId }, source) => void ended.push(`${source} ${nameOf(userId)}`),
    },
    now: () => time,
    log: { info: () => undefined, warn: () => undefined },
  })
  t.after(() => hours.close())
  const until = async (instant: string) => {
    time = Date.parse(instant)
    t.mock.timers.tick(10_000)
    for (let turns = 0; turns < 50; turns++) await turn()
    return seen.splice(0)
  }
  return { hours, engine, ended, until }
}

test('without hours of a group no timer runs', async (t) => {
  const { hours, until } = arrange(t, [], '2026-11-23T06:40:00Z')
  hours.start()
  assert.deepEqual(await until('2026-11-23T06:45:05Z'), [])
})

test('members get their containers before a lesson, once, and all containers of the types stop at night after a warning', async (t) => {
  const { hours, until } = arrange(t, [{ ...physics, timetable }], '2026-11-23T06:40:00Z')
  hours.start()
  assert.deepEqual(await until('2026-11-23T06:44:55Z'), [])
  assert.deepEqual(await until('2026-11-23T06:45:05Z'), ['start lab ann', 'start lab ben'])
  hours.start()
  assert.deepEqual(await until('2026-11-23T06:45:15Z'), [])
  await until('2026-11-23T20:58:55Z')
  const stop = '2026-11-23T21:00:00.000Z'
  assert.deepEqual(
    await until('2026-11-23T20:59:05Z'),
    ['ann', 'ben', 'tom'].map((name) => `warn hours ${name} ${stop}`),
  )
  assert.deepEqual(await until('2026-11-23T21:00:05Z'), ['stop lab ann', 'stop lab ben', 'stop lab tom'])
})

test('a Berth that starts within a quarter of an hour after the moment does it then, and a jump of the clock does no day at once', async (t) => {
  const late = arrange(t, [{ ...physics, timetable }], '2026-11-23T06:50:00Z')
  late.hours.start()
  assert.deepEqual(await late.until('2026-11-23T06:50:10Z'), ['start lab ann', 'start lab ben'])
  assert.deepEqual(await late.until('2026-11-30T12:00:00Z'), [])
})

// At 12:05 a manager set a stop at 12:00, and all containers stopped at once, without a warning.
test('the first hours of an installation do not concern the time before they are set', async (t) => {
  const timed: Group[] = []
  const { hours, until } = arrange(t, timed, '2026-11-23T06:30:00Z')
  hours.start()
  await until('2026-11-23T21:05:00Z')
  timed.push({ ...physics, timetable })
  hours.start()
  assert.deepEqual(await until('2026-11-23T21:05:10Z'), [])
  timed.pop()
  hours.start()
  await until('2026-11-24T06:50:00Z')
  timed.push({ ...physics, timetable })
  hours.start()
  assert.deepEqual(await until('2026-11-24T06:50:10Z'), [])
})

test('a group that has ended has no hours', async (t) => {
  const { hours, until } = arrange(t, [{ ...physics, timetable, expiresAt: now }], '2026-11-23T06:40:00Z')
  hours.start()
  assert.deepEqual(await until('2026-11-23T06:45:05Z'), [])
})

// The stop at night was lost when the engine was away for a moment: its return restored the containers, which ran on.
test('a stop that failed because the engine was away is repeated, but not of what was started meanwhile', async (t) => {
  const { hours, engine, until } = arrange(t, [{ ...physics, timetable }], '2026-11-23T20:59:50Z')
  hours.start()
  await until('2026-11-23T20:59:55Z')
  engine.isAway = true
  assert.deepEqual(await until('2026-11-23T21:00:05Z'), [])
  assert.deepEqual(await until('2026-11-23T21:05:00Z'), [])
  hours.noteStart({ userId: ids.ben ?? 0, type: 'lab' })
  engine.isAway = false
  assert.deepEqual(await until('2026-11-23T21:05:10Z'), ['stop lab ann', 'stop lab tom'])
  assert.deepEqual(await until('2026-11-23T21:05:20Z'), [])
})

test('a stop that failed is repeated for half an hour, as long as the hours ask for it', async (t) => {
  const timed = [{ ...physics, timetable }]
  const { hours, engine, until } = arrange(t, timed, '2026-11-23T20:59:50Z')
  hours.start()
  engine.isAway = true
  await until('2026-11-23T21:00:05Z')
  engine.isAway = false
  assert.deepEqual(await until('2026-11-23T21:30:15Z'), [])

  engine.isAway = true
  await until('2026-11-24T21:00:05Z')
  engine.isAway = false
  timed.splice(0, 1, { ...physics, timetable: { ...timetable, stopAt: 23 * 60 } })
  assert.deepEqual(await until('2026-11-24T21:00:15Z'), [])
})

const allWarnings = ['hours ann', 'hours ben', 'hours tom']

test('a stop that failed ends its warnings', async (t) => {
  const { hours, engine, ended, until } = arrange(t, [{ ...physics, timetable }], '2026-11-23T20:58:55Z')
  hours.start()
  assert.equal((await until('2026-11-23T20:59:05Z')).length, 3)
  engine.isAway = true
  await until('2026-11-23T20:59:55Z')
  assert.deepEqual(ended, [])
  await until('2026-11-23T21:00:05Z')
  assert.deepEqual(ended, allWarnings)
})

test('hours that are changed or removed end warnings of stops that do not come', async (t) => {
  const timed: Group[] = [{ ...physics, timetable }]
  const { hours, ended, until } = arrange(t, timed, '2026-11-23T20:58:55Z')
  hours.start()
  await until('2026-11-23T20:59:05Z')
  timed.splice(0, 1, { ...physics, timetable: { ...timetable, lessons: [] } })
  hours.start()
  assert.deepEqual(ended, [], 'the stop is at the same time')
  timed.splice(0, 1, { ...physics, timetable: { ...timetable, stopAt: 23 * 60 } })
  hours.start()
  assert.deepEqual(ended.splice(0), allWarnings)
  await until('2026-11-23T21:59:05Z')
  timed.splice(0)
  hours.start()
  assert.deepEqual(ended, allWarnings)
})

test('a stop that is made up for is warned of no more', async (t) => {
  const { hours, until } = arrange(t, [{ ...physics, timetable }], '2026-11-23T21:05:00Z')
  hours.start()
  assert.deepEqual(await until('2026-11-23T21:05:10Z'), ['stop lab ann', 'stop lab ben', 'stop lab tom'])
})
