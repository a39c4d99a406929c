import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsharedHomes } from '#test/support/unshared-homes.ts'
import { localize } from '@berth/texts/localize.ts'
import type { UserEvent } from '#/containers/user-events.ts'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import type { Home, Runtime } from '#/engines/runtime.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'
import { waitLimit } from '#test/support/extent.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { DiskLimits } from './disk-limits.ts'
import { DiskMeasurement, DiskUse, type DiskUseParts } from './disk-use.ts'

const MiB = 1024 ** 2
const noRules = { limitsFor: () => undefined, hasDiskLimits: false, directory: { hasFolders: false } }

/** An engine whose homes have the sizes that a test writes down, in MiB: `7 ann dev`. */
function scriptedEngine(
  sizes: Map<string, number>,
): Pick<Runtime, 'homes' | 'measureHomes' | 'capabilities'> & { asked: number } {
  const toHome = (volume: string): Home => {
    const [userId = '', slug = '', type = ''] = volume.split(' ')
    return { volume, owner: { userId: Number(userId), slug, type } }
  }
  const engine = {
    capabilities: dockerCapabilities,
    asked: 0,
    homes: async (userId?: number) =>
      [...sizes.keys()].map(toHome).filter(({ owner }) => userId === undefined || owner.userId === userId),
    measureHomes: async (_: AbortSignal, userId?: number) => {
      engine.asked++
      const isMeant = ([volume]: [string, number]) => userId === undefined || toHome(volume).owner.userId === userId
      return new Map([...sizes].filter(isMeant).map(([volume, size]) => [volume, size * MiB]))
    },
  }
  return engine
}

function open(sizes: Record<string, number>, more: Partial<DiskUseParts> = {}) {
  const told: [number, UserEvent][] = []
  const logged: unknown[] = []
  const written = new Map(Object.entries(sizes))
  const runtime = scriptedEngine(written)
  const types = ['dev', 'prod'].map((type) => readTemplate(type, { image: 'x', display_name: `The ${type}` }).template)
  const templates = new Templates(types.filter((each) => each !== undefined))
  const log = { info: () => undefined, warn: (...words: unknown[]) => void logged.push(words) }
  const limits = new DiskLimits(templates, 100 * MiB, unsharedHomes().names)
  const publish = (userId: number, event: UserEvent) => void told.push([userId, event])
  const people: Record<number, string> = { 7: 'ann', 8: 'bob', 9: 'cat' }
  const slugOf = (userId: number) => people[userId]
  const use = new DiskUse({
    names: unsharedHomes().names,
    installation: 'berth',
    runtime,
    limits,
    slugOf,
    publish,
    log: log as DiskUseParts['log'],
    maxAge: 0,
    rules: noRules,
    templates,
    ...more,
  })
  const refusalFor = async (id: number, type: string) =>
    (await use.refusalFor({ id, slug: people[id] ?? '' }, { type }))?.message
  return { use, people, sizes: written, told, logged, runtime, refusalFor }
}

const event = (used: number) => ({
  name: 'disk',
  data: { type: null, used: used * MiB, limit: 100 * MiB, measured: true },
})

test('before the first measurement no launch is refused, and there are no numbers', async () => {
  const { use, refusalFor, runtime } = open({ '7 ann dev': 500 })
  assert.equal(await refusalFor(7, 'dev'), undefined)
  assert.equal(runtime.asked, 0)
  assert.deepEqual([use.counts(), use.warnings(), use.current(7)], [{}, [], []])
})

test('a warned user gets each new number, and a last event when the reason is gone', async () => {
  const { use, sizes, told, logged } = open({ '7 ann dev': 50, '8 bob dev': 89, '9 cat dev': 1 })
  const measured = async (size?: number) => {
    if (size === undefined) sizes.delete('7 ann dev')
    else sizes.set('7 ann dev', size)
    await use.measure()
    return told.splice(0)
  }
  assert.deepEqual(await measured(50), [])
  assert.deepEqual(await measured(90), [[7, event(90)]])
  assert.deepEqual(use.current(7), [event(90)])
  assert.deepEqual(await measured(90), [])
  assert.deepEqual(await measured(101), [[7, event(101)]])
  assert.deepEqual(await measured(102), [[7, event(102)]])
  assert.deepEqual(await measured(80), [[7, event(80)]])
  assert.deepEqual([await measured(70), use.current(7)], [[], []])
  assert.deepEqual(await measured(95), [[7, event(95)]])
  assert.deepEqual(await measured(), [[7, event(0)]])
  assert.equal(logged.length, 3)
})

test('a home has its size and the limit of it alone, once it is measured', async () => {
  const { template } = readTemplate('dev', { image: 'x', home_size: '200m' })
  const { template: unlimited } = readTemplate('prod', { image: 'x' })
  assert.ok(template && unlimited)
  const templates = new Templates([template, unlimited])
  const { names } = unsharedHomes()
  const limits = new DiskLimits(templates, 100 * MiB, names)
  const { use } = open({ '7 ann dev': 50, '7 ann prod': 20 }, { templates, limits })
  const ann = { id: 7, slug: 'ann' }
  assert.equal(use.spaceOf(ann, 'dev'), undefined)
  await use.measure()
  assert.deepEqual(use.spaceOf(ann, 'dev'), { used: 50 * MiB, limit: 200 * MiB })
  assert.deepEqual(use.spaceOf(ann, 'prod'), { used: 20 * MiB, limit: null })
  assert.equal(use.spaceOf({ id: 8, slug: 'bob' }, 'dev'), undefined)
})

test('a refusal names the numbers and where files can be deleted, and comes after another look', async () => {
  const { use, sizes, runtime, refusalFor } = open({ '7 ann dev': 80, '7 ann prod': 30 })
  await use.measure()
  assert.equal(await refusalFor(7, 'dev'), undefined)
  assert.match((await refusalFor(7, 'prod')) ?? '', /110 MiB of the 100 MiB .* Delete some in The dev, which still/)
  assert.equal(runtime.asked, 2)
  sizes.set('7 ann dev', 180)
  await use.measure()
  assert.match(
    (await refusalFor(7, 'dev')) ?? '',
    /210 MiB of the 100 MiB .* under “Files” on the card of a stopped container/,
  )
  sizes.set('7 ann dev', 10)
  assert.equal(await refusalFor(7, 'dev'), undefined)
  assert.equal(await refusalFor(8, 'dev'), undefined)
})

test('a user with the id of one whom a restored store does not have gets none of the homes of the latter', async () => {
  const { use, people, told, refusalFor } = open({ '7 ann dev': 500, '7 zoe dev': 90 })
  people[7] = 'zoe'
  await use.measure()
  assert.equal(await refusalFor(7, 'dev'), undefined)
  assert.equal(await refusalFor(7, 'prod'), undefined)
  assert.deepEqual([told, use.current(7)], [[[7, event(90)]], [event(90)]])
  assert.equal(use.counts().berth_homes_bytes, 590 * MiB)
  people[7] = 'ann'
  assert.deepEqual(use.current(7), [event(500)])
  assert.match((await refusalFor(7, 'dev')) ?? '', /500 MiB of the 100 MiB/)
})

test('numbers that are new are not asked for again, however many launches are refused', async () => {
  const { use, runtime, refusalFor } = open({ '7 ann dev': 200 }, { maxAge: 60_000 })
  await use.measure()
  for (const text of await Promise.all([1, 2, 3].map(() => refusalFor(7, 'prod')))) assert.match(text ?? '', /200 MiB/)
  assert.equal(runtime.asked, 1)
})

test('simultaneous requests wait for one measurement; one that fails leaves the known numbers', async () => {
  const { use, runtime, refusalFor } = open({ '7 ann dev': 200 })
  await Promise.all([use.measure(), use.measure(), use.measure()])
  assert.equal(runtime.asked, 1)
  runtime.measureHomes = async () => Promise.reject(new Error('no disk'))
  await assert.rejects(use.measure(), /no disk/)
  assert.match((await refusalFor(7, 'dev')) ?? '', /200 MiB/)
  assert.equal(use.counts().berth_homes_largest_user_bytes, 200 * MiB)
})

test('a home that could not be measured this time counts as it did last', async () => {
  const { use, runtime, told } = open({ '7 ann dev': 95, '7 ann prod': 1 })
  await use.measure()
  runtime.measureHomes = async () => new Map([['7 ann prod', 2 * MiB]])
  await use.measure()
  assert.deepEqual(told, [
    [7, event(96)],
    [7, event(97)],
  ])
})

// A launch that was refused had every file of every home looked at, and a class that was refused kept the disk busy.
test('before a refusal the homes of its owner alone are measured, also while all are', async () => {
  const { use, sizes, runtime, refusalFor } = open({ '7 ann dev': 200, '8 bob dev': 300 })
  await use.measure()
  const asked: (number | undefined)[] = []
  const measure = runtime.measureHomes
  const slow = Promise.withResolvers<void>()
  runtime.measureHomes = async (signal, userId) => {
    asked.push(userId)
    const now = await measure(signal, userId)
    if (userId === undefined) await slow.promise
    return now
  }
  const all = use.measure()
  await new Promise((resolve) => setImmediate(resolve))
  sizes.set('7 ann dev', 1)
  sizes.set('8 bob dev', 2)
  assert.equal(await refusalFor(7, 'dev'), undefined)
  assert.deepEqual(asked, [undefined, 7])
  slow.resolve()
  await all
  const known = new Map([...use.sizes()].map(({ userId, bytes }) => [userId, bytes / MiB]))
  assert.deepEqual(
    known,
    new Map([
      [7, 1],
      [8, 300],
    ]),
    'what was measured later counts',
  )
})

// The launch that was refused was still measuring when the file was deleted, and its numbers counted for half a minute.
test('what is removed while homes of an owner are measured counts at the next attempt', async () => {
  const { use, sizes, runtime, refusalFor } = open({ '7 ann dev': 200 })
  await use.measure()
  const measure = runtime.measureHomes
  const slow = Promise.withResolvers<void>()
  runtime.measureHomes = async (...args) => {
    const now = await measure(...args)
    await slow.promise
    return now
  }
  use.noteRemoved()
  const first = refusalFor(7, 'dev')
  await new Promise((resolve) => setImmediate(resolve))
  sizes.set('7 ann dev', 1)
  use.noteRemoved()
  const second = refusalFor(7, 'dev')
  slow.resolve()
  assert.notEqual(await first, undefined)
  assert.equal(await second, undefined)
})

// A user with one path that is too long for the engine had no limit any more, and could fill the disk of all.
test('beside a home that was not measured twice in a row no other container starts, and owner and operator are told', async () => {
  const { use, sizes, runtime, told, logged, refusalFor } = open({ '7 ann dev': 10, '7 ann prod': 1, '8 bob dev': 2 })
  const tooDeep = new Set(['7 ann dev'])
  const measure = runtime.measureHomes
  runtime.measureHomes = async (...args) => {
    const all = [...(await measure(...args))]
    return new Map(all.map(([volume, size]) => [volume, tooDeep.has(volume) ? null : size]))
  }
  await use.measure()
  assert.equal(await refusalFor(7, 'prod'), undefined, 'a file may have gone away meanwhile')
  await use.measure()
  assert.match((await refusalFor(7, 'prod')) ?? '', /The dev cannot be measured.*in The dev, which still starts/)
  assert.deepEqual([await refusalFor(7, 'dev'), await refusalFor(8, 'prod')], [undefined, undefined])
  const notice = { type: 'dev', used: 0, limit: 100 * MiB, measured: false }
  assert.deepEqual(use.current(7), [{ name: 'disk', data: notice }])
  assert.deepEqual(told.splice(0), [[7, { name: 'disk', data: notice }]])
  assert.deepEqual(
    use.warnings().map((each) => localize('en', each)),
    ['Homes that the engine cannot measure: 1. ann-dev (user 7). No disk limit counts them.'],
  )
  assert.match(JSON.stringify(logged.splice(0)), /"slug":"ann","type":"dev".*the engine cannot measure a home/)

  tooDeep.add('7 ann prod')
  await use.measure()
  await use.measure()
  assert.deepEqual(
    [await refusalFor(7, 'dev'), await refusalFor(7, 'prod')],
    [undefined, undefined],
    'both can be mended',
  )

  tooDeep.clear()
  sizes.set('7 ann dev', 3)
  assert.equal(await refusalFor(7, 'dev'), undefined)
  await use.measure()
  assert.equal(await refusalFor(7, 'prod'), undefined)
  assert.deepEqual([use.current(7), use.warnings()], [[], []])
  const measured = told.filter(([, { data }]) => (data as { measured: boolean }).measured)
  assert.deepEqual(
    measured.map(([, { data }]) => (data as { type: string }).type),
    ['dev', 'prod'],
    'the notes go away',
  )
})

test('an unmeasured home concerns launches that come under the same limit, and those only', async () => {
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: 10 * MiB }
  const { template: dev } = readTemplate('dev', { image: 'x' })
  const { template: prod } = readTemplate('prod', { image: 'x' })
  assert.ok(dev && prod)
  const templates = new Templates([dev, prod])
  for (const [types, isRefused] of [
    [['dev', 'prod'], true],
    [null, true],
    [['dev'], false],
    [['prod'], false],
  ] as const) {
    const rules = {
      ...noRules,
      hasDiskLimits: true,
      limitsFor: async () => [{ group: 'Physics', types: types && [...types], limits }],
    }
    const some = open(
      { '7 ann dev': 1 },
      { rules, templates, limits: new DiskLimits(templates, null, unsharedHomes().names) },
    )
    some.runtime.measureHomes = async () => new Map([['7 ann dev', null]])
    await some.use.measure()
    await some.use.measure()
    assert.equal((await some.refusalFor(7, 'prod')) !== undefined, isRefused, String(types))
  }
})

test('operators see how many limits are reached, and the users of the largest three', async () => {
  const many = Array.from({ length: 50 }, (_, index) => [`${index} user${index} dev`, 100 + index] as const)
  const { use } = open({ ...Object.fromEntries(many), '99 near dev': 95, '100 small dev': 2 })
  await use.measure()
  const three = 'user49 (user 49): 149 MiB of 100 MiB; user48 (user 48): 148 MiB of 100 MiB; user47 (user 47): 147 MiB'
  assert.deepEqual(
    use.warnings().map((each) => localize('en', each)),
    [`Full homes: 50. The largest: ${three} of 100 MiB.`, 'Nearly full homes: 1. near (user 99): 95 MiB of 100 MiB.'],
  )
  const all = many.reduce((sum, [, size]) => sum + size, 97)
  assert.deepEqual(use.counts(), {
    berth_homes_bytes: all * MiB,
    berth_homes_largest_user_bytes: 149 * MiB,
    berth_homes_full_users: 50,
  })
})

test('the limit of a group counts homes of its types alone, and leaves a way in to delete files', async () => {
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: 10 * MiB }
  const limitsOf = (types: string[] | null) => ({
    ...noRules,
    hasDiskLimits: true,
    limitsFor: async () => [{ group: 'Physics', types, limits }],
  })
  const some = open({ '7 ann dev': 5, '7 ann prod': 11, '8 bob dev': 30 }, { rules: limitsOf(['prod']) })
  await some.use.measure()
  assert.equal(await some.refusalFor(7, 'dev'), undefined)
  assert.equal(await some.refusalFor(7, 'prod'), undefined)
  assert.equal(await some.refusalFor(8, 'prod'), undefined)
  some.sizes.set('7 ann prod', 13)
  await some.use.measure()
  assert.match((await some.refusalFor(7, 'prod')) ?? '', /13 MiB of the 10 MiB that the group Physics allows/)
  const all = open({ '7 ann dev': 5, '7 ann prod': 6 }, { rules: limitsOf(null) })
  await all.use.measure()
  assert.match((await all.refusalFor(7, 'dev')) ?? '', /Delete some in The prod/)
  assert.equal(await all.refusalFor(7, 'prod'), undefined)
})

// By figures of ten minutes ago a member who had filled the disk since launched once more.
test('old numbers let no launch pass that a limit of a group concerns, and are not asked for where none does', async () => {
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: 10 * MiB }
  const limitsFor = async () => [{ group: 'Physics', types: ['prod'], limits }]
  const rules = { ...noRules, hasDiskLimits: true, limitsFor }
  const old = open({ '7 ann dev': 1, '7 ann prod': 1 }, { rules, maxMemberAge: -1 })
  await old.use.measure()
  old.sizes.set('7 ann prod', 13)
  assert.equal(await old.refusalFor(7, 'dev'), undefined)
  assert.equal(old.runtime.asked, 1, 'no limit of a group counts this type')
  assert.match((await old.refusalFor(7, 'prod')) ?? '', /13 MiB of the 10 MiB/)
  const recent = open({ '7 ann prod': 1 }, { rules })
  await recent.use.measure()
  assert.equal(await recent.refusalFor(7, 'prod'), undefined)
  assert.equal(recent.runtime.asked, 1, 'the numbers are new')
})

test('numbers are wanted as soon as a group limits the size of homes', () => {
  const rules = { ...noRules }
  const { template } = readTemplate('dev', { image: 'x' })
  assert.ok(template)
  const { use } = open({}, { rules, limits: new DiskLimits(new Templates([template]), null, unsharedHomes().names) })
  assert.equal(use.isWanted, false)
  rules.hasDiskLimits = true
  assert.equal(use.isWanted, true)
})

/** Measures as a test says. */
function openMeasurement(measure: () => Promise<void>, isWanted = true) {
  const warned: unknown[] = []
  const end = Promise.withResolvers<never>()
  const diskUse = {
    isWanted,
    count: 0,
    measure: async () => {
      diskUse.count++
      await Promise.race([measure(), end.promise])
    },
    close: () => end.reject(new Error('it was ended')),
  }
  end.promise.catch(() => undefined)
  const task = new DiskMeasurement(diskUse, { warn: (...words: unknown[]) => void warned.push(words) }, 5)
  return { task, diskUse, warned }
}

const until = async (condition: () => boolean) => {
  const end = performance.now() + waitLimit(20_000)
  while (!condition()) {
    assert.ok(performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

test('homes are measured at once and again and again, one measurement at a time, until it is stopped', async () => {
  let underWay = 0
  const { task, diskUse } = openMeasurement(async () => {
    assert.equal(underWay++, 0)
    await new Promise((resolve) => setTimeout(resolve, 1))
    underWay--
  })
  task.start()
  assert.equal(diskUse.count, 1)
  await until(() => diskUse.count > 3)
  await task.stop()
  const { count } = diskUse
  await observationTime(50)
  assert.equal(diskUse.count, count)
})

test('a measurement that would take for ever ends with the task, and that is no failure', async () => {
  const { task, warned } = openMeasurement(() => new Promise(() => undefined))
  task.start()
  await task.stop()
  assert.deepEqual(warned, [])
})

test('an engine that cannot measure is asked again, and complained of once', async () => {
  const { task, diskUse, warned } = openMeasurement(() => Promise.reject(new Error('no such call')))
  task.start()
  await until(() => diskUse.count > 3)
  await task.stop()
  assert.equal(warned.length, 1)
})

test('where no user has a limit nothing is measured', async () => {
  const { task, diskUse } = openMeasurement(async () => undefined, false)
  task.start()
  await task.stop()
  assert.equal(diskUse.count, 0)
})
