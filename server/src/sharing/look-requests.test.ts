import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Refusal } from '#/refusals/errors.ts'
import type { ContainerShare } from '#/store/container-shares.ts'
import { LookRequests } from './look-requests.ts'

const minute = 60_000

function arrange(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.parse('2026-11-23T08:00:00Z') })
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  const told: number[] = []
  const requests = new LookRequests({ onChange: (userId) => void told.push(userId) })
  t.after(() => requests.close())
  const pass = (ms: number) => {
    elapsed += ms
    t.mock.timers.tick(ms)
  }
  const add = (managerId = 1, userId = 2, type = 'lab') =>
    requests.add({
      manager: { id: managerId, email: `${managerId}@x.org` },
      group: { id: 7, name: 'Physics' },
      owned: { userId, type },
    })
  return { requests, told, pass, add }
}
const isLimited = (error: unknown) => error instanceof Refusal && error.status === 429

test('a request that is not answered is over after five minutes, and the member is told', (t) => {
  const { requests, told, pass, add } = arrange(t)
  const { id } = add()
  pass(5 * minute - 4_000)
  assert.equal(requests.of(2, id).id, id)
  pass(6_000)
  assert.throws(() => requests.of(2, id), { status: 404 })
  assert.deepEqual([requests.all(), requests.current(2), told.at(-1)], [[], [], 2])
})

test('a decline counts for half an hour, for this manager and member alone, and ends their other requests', (t) => {
  const { requests, pass, add } = arrange(t)
  const request = add()
  add(1, 2, 'dev')
  requests.decline(request)
  assert.deepEqual(requests.all(), [])
  assert.equal(requests.stateOf(1, { userId: 2, type: 'lab' })?.state, 'declined')
  assert.equal(requests.stateOf(3, { userId: 2, type: 'lab' }), undefined)
  assert.throws(() => add(), isLimited)
  add(3, 2)
  add(1, 4)
  pass(30 * minute + 2_000)
  assert.equal(requests.stateOf(1, { userId: 2, type: 'lab' }), undefined)
  add()
})

test('three requests an hour, and five open ones for a member', (t) => {
  const { requests, pass, add } = arrange(t)
  for (const _ of [1, 2, 3]) requests.remove(add())
  assert.throws(() => add(), isLimited)
  pass(61 * minute)
  for (const managerId of [1, 2, 3, 4, 5]) add(managerId, 9)
  assert.throws(() => add(6, 9), isLimited)
  pass(6 * minute)
  add(6, 9)
})

test('the page of the owner learns the end of a look, also where it is that of the group', (t) => {
  const { requests, told, pass } = arrange(t)
  const until = new Date(Date.now() + 10 * minute)
  const look = {
    id: 3,
    owner: { id: 2, email: 'ann@x.org', slug: 'ann' },
    type: 'lab',
    email: 'tom@x.org',
    askedIn: { id: 7, name: 'Physics', types: null, managerId: 1 },
    expiresAt: new Date(Date.now() + 60 * minute),
    groupExpiresAt: until,
  } as ContainerShare
  requests.setLooks([look])
  requests.setLooks([look])
  assert.deepEqual(told, [2])
  assert.deepEqual(requests.stateOf(1, { userId: 2, type: 'lab' }), { state: 'open', until })
  pass(10 * minute + 2_000)
  assert.deepEqual([told, requests.current(2)], [[2, 2], []])
  requests.setLooks([])
  assert.deepEqual(told, [2, 2])
})

test('there is a timer only while there is something to forget', (t) => {
  const { pass, add } = arrange(t)
  const begun = t.mock.method(globalThis, 'setInterval').mock
  const ended = t.mock.method(globalThis, 'clearInterval').mock
  pass(minute)
  assert.equal(begun.callCount(), 0)
  add()
  add(3, 4)
  assert.deepEqual([begun.callCount(), ended.callCount()], [1, 0])
  pass(70 * minute)
  assert.deepEqual([begun.callCount(), ended.callCount()], [1, 1])
  add()
  assert.equal(begun.callCount(), 2)
})
