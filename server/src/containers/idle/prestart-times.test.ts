import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { User } from '#/store/users.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { PrestartTimes } from './prestart-times.ts'

const templateOf = (type: string, fields: object = {}) =>
  readTemplate(type, { image: `${type}-image`, ...fields }).template as Template
const at = (time: string) => Date.parse(`2026-11-23T${time}Z`)

function arrange(t: TestContext, templates: readonly Template[], users: number, hasRoom: (id: number) => boolean) {
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
  const until = async (time: string) => {
    now = at(time)
    t.mock.timers.tick(10_000)
    for (let turns = 0; turns < 10; turns++) await turn()
    return seen.splice(0)
  }
  return { times, until }
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
