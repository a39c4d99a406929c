import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { message } from '@berth/texts/localized-message.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { User } from '#/store/users.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { Prestart, PrestartTimes, type PrestartParts } from './prestart.ts'

const lab = readTemplate('lab', { image: 'lab-image' }).template as Template
const userOf = (id: number) => ({ id, slug: `u${id}` }) as User

/** @param start what the spawner does for this user */
const prestartWith = (start: (id: number) => Promise<void>) =>
  new Prestart({
    capabilities: { pauses: false },
    rules: { refusalFor: async () => undefined },
    spawner: { prestart: ({ id }: User) => start(id) },
    admission: { isUp: () => false },
    log: { info: () => undefined, warn: () => undefined },
  } as unknown as PrestartParts)

const roomAfter = (refusal: Refusal) => prestartWith(() => Promise.reject(refusal)).run(userOf(1), lab)

// The first user with as many containers as may run ended the start for the class behind them.
test('a limit of one user or group leaves room for others, and a full server does not', async () => {
  const some = message('refusals.serverFull')
  for (const own of [
    refusals.tooManyOfYours(1),
    refusals.diskFull(some, some, undefined),
    refusals.groupLimit('running', 'Course', some),
  ])
    assert.equal(await roomAfter(own), true, own.code)
  for (const full of [refusals.serverFull(), refusals.tooManyLaunches()])
    assert.equal(await roomAfter(full), false, full.code)
})

// A prestart started again by itself what its owner had stopped.
test('a container that its owner asked for while the prestart waited is not started any more', async () => {
  const started: number[] = []
  const first = Promise.withResolvers<void>()
  const prestart = prestartWith(async (id) => {
    started.push(id)
    await first.promise
  })
  const runs = [1, 2, 3, 4].map((id) => prestart.run(userOf(id), lab))
  prestart.noteRequest({ userId: 3, type: 'lab' })
  first.resolve()
  await Promise.all(runs)
  assert.deepEqual(started, [1, 2, 4])
})

const templateOf = (type: string, fields: object = {}) =>
  readTemplate(type, { image: `${type}-image`, ...fields }).template as Template
const at = (time: string) => Date.parse(`2026-11-23T${time}Z`)

function arrange(
  t: TestContext,
  templates: readonly Template[],
  users: number,
  hasRoom: (id: number) => boolean | Promise<boolean>,
) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const seen: string[] = []
  let now = at('06:00:00')
  const times = new PrestartTimes({
    templates: new Templates(templates),
    prestart: {
      run: async ({ id }, { type }) => {
        seen.push(`${type} ${id}`)
        return hasRoom(id)
      },
    },
    usersOf: async (type, since, { after, limit }) => {
      seen.push(`${type} since ${since.toISOString().slice(0, 16)}`)
      const ids = Array.from({ length: users }, (_, index) => index + 1).filter((id) => id > after)
      return ids.slice(0, limit).map((id) => ({ id }) as User)
    },
    fetchImage: async ({ image }) => void seen.push(image),
    timeZone: 'UTC',
    now: () => now,
    log: { info: () => undefined, warn: () => undefined },
  })
  t.after(() => times.stop())
  const set = (time: string) => void (now = at(time))
  const until = async (time: string) => {
    set(time)
    t.mock.timers.tick(10_000)
    for (let turns = 0; turns < 10; turns++) await turn()
    return seen.splice(0)
  }
  return { times, set, until }
}

test('without a template that is started ahead nothing is asked, and no timer runs', async (t) => {
  const { times, until } = arrange(t, [templateOf('dev')], 1, () => true)
  times.start()
  assert.deepEqual(await until('23:00:00'), [])
})

test('at prestart_at the containers of recent users are started once, as long as there is room', async (t) => {
  const lab = templateOf('lab', { prestart_at: '7:30 Europe/Berlin' })
  const { times, until } = arrange(
    t,
    [templateOf('dev'), lab, templateOf('now', { prestart: true })],
    250,
    (id) => id !== 150,
  )
  times.start()
  assert.deepEqual(await until('06:29:50'), [])
  const begun = await until('06:30:05')
  assert.deepEqual(begun.slice(0, 3), ['lab-image', 'lab since 2026-11-16T06:30', 'lab 1'])
  assert.equal(begun.at(-1), 'lab 200', 'the page in which the room ends is the last one')
  assert.deepEqual(await until('06:30:15'), [])
  assert.deepEqual(await until('23:00:00'), [])
})

// Two hundred of a class were not started, because another type was corrected five minutes after the time, and no line said so.
test('a reload of templates drops neither what is under way nor what has just become due', async (t) => {
  const first = Promise.withResolvers<boolean>()
  const hasRoom = (id: number) => (id === 1 ? first.promise : true)
  const { times, set, until } = arrange(t, [templateOf('lab', { prestart_at: '06:30' })], 250, hasRoom)
  times.start()
  assert.deepEqual(await until('06:29:55'), [])
  set('06:30:02')
  times.start()
  assert.equal((await until('06:30:05')).at(-1), 'lab 100')
  times.start()
  first.resolve(true)
  const rest = await until('06:31:00')
  assert.equal(rest.at(-1), 'lab 250')
  assert.deepEqual(await until('06:32:00'), [])
})
