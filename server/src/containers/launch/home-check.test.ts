import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import type { Template } from '#/templates/template.ts'
import { HomeCheck } from './home-check.ts'

// Launches waited for the looks at the homes of all that came before, and for an engine that hangs 3 s for each.
test('a launch waits for the look at its home no longer than one may take, however many come before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let asked = 0
  const check = new HomeCheck({
    runtime: {
      homeRights: () => {
        asked++
        return new Promise<never>(() => undefined)
      },
    },
    database: {} as never,
    admission: { counts: () => ({ waiting: 0, underWay: 0, parallel: 1 }) },
    log: { warn: () => undefined },
  })
  const record = { id: 1, containerId: null, image: 'image', homeProblem: null } as UserContainer
  const template = { home: '/home', homeOf: 'user', homeSource: null, user: null, image: 'image' } as Template
  const launches = Promise.all(['a', 'b', 'c'].map((id) => check.run(record, id, template)))
  await new Promise(setImmediate)
  t.mock.timers.tick(3_000)
  await launches
  assert.equal(asked, 1)
})

test('the look at a new home, which no launch waits for, begins when launches are over', async () => {
  let underWay = 1
  let isAsked = false
  const looked = Promise.withResolvers<void>()
  const check = new HomeCheck({
    runtime: {
      homeRights: async () => {
        isAsked = true
        looked.resolve()
        return undefined
      },
    },
    database: {} as never,
    admission: { counts: () => ({ waiting: 0, underWay, parallel: 1 }) },
    log: { warn: () => undefined },
  })
  const record = { id: 1, containerId: null, image: 'image', homeProblem: null } as UserContainer
  const template = { home: '/home', homeOf: 'type', homeSource: null, user: null, image: 'image' } as Template
  await check.run(record, 'a', template)
  await sleep(600)
  assert.ok(!isAsked)
  underWay = 0
  await looked.promise
})

test('the look at a container that was removed meanwhile writes nothing, to the store or the log', async () => {
  const check = new HomeCheck({
    runtime: { homeRights: () => Promise.reject(new RuntimeError('missing', 'inspect a')) },
    database: {} as never,
    admission: { counts: () => ({ waiting: 0, underWay: 0, parallel: 1 }) },
    log: { warn: () => assert.fail('it is logged') },
  })
  const homeProblem = { program: 1, owner: 2 }
  const record = { id: 1, containerId: null, image: 'image', homeProblem } as UserContainer
  const template = { home: '/home', homeOf: 'type', homeSource: null, user: null, image: 'image' } as Template
  await check.run(record, 'a', template)
})
