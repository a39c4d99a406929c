import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { StreamRegistry } from '#/containers/stream-registry.ts'
import type { UserEventObserver } from '#/containers/user-events.ts'
import type { Db } from '#/store/database.ts'
import type { Group } from '#/store/groups.ts'
import { GroupView, GroupWatch } from './group-watch.ts'
import type { MemberState, MemberStates } from './member-states.ts'

function arrange() {
  const observers = new Set<UserEventObserver>()
  const streams = new StreamRegistry()
  const states = { of: (_: unknown, userId: number) => ({ userId, isHere: false, containers: [] }) }
  const watch = new GroupWatch({
    db: {} as Db,
    events: {
      observe: (observer) => {
        observers.add(observer)
        return () => void observers.delete(observer)
      },
    },
    streams,
    states: states as unknown as MemberStates,
    log: { warn: () => undefined },
  })
  const watched = { group: { id: 7, types: null } as Group, roles: new Map([[1, 'member' as const]]) }
  const begin = (userId = 9) => {
    const viewer = { isEnded: false, onSnapshot() {}, async onMembers() {}, onChanged() {}, onEnd: () => {} }
    viewer.onEnd = () => (viewer.isEnded = true)
    return { viewer, end: watch.begin(watched, { userId, sid: 's' }, viewer) }
  }
  return { observers, streams, begin }
}

test('events of users are observed while a page of a group is open, once for all pages', () => {
  const { observers, begin } = arrange()
  assert.equal(observers.size, 0)
  const [one, two] = [begin(), begin()]
  assert.equal(observers.size, 1)
  one.end()
  assert.equal(observers.size, 1)
  two.end()
  two.end()
  assert.equal(observers.size, 0)
})

test('a user has five pages of groups open at most, and a block ends them', () => {
  const { observers, streams, begin } = arrange()
  const pages = Array.from({ length: 5 }, () => begin())
  assert.throws(() => begin(), /pages|streams/i)
  streams.endUser(9)
  assert.ok(pages.every(({ viewer }) => viewer.isEnded))
  assert.equal(observers.size, 0)
  begin().end()
})

/** `mock.timers` fires timers at once; promises that they begin need turns of the loop. */
const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

function arrangeView(t: TestContext, members: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const here = new Set<number>()
  const sent: (number[] | string)[] = []
  let room = Promise.resolve()
  const states = {
    of: (_: Group, userId: number): MemberState => ({ userId, isHere: here.has(userId), containers: [] }),
    isHere: (_: Group, userId: number) => here.has(userId),
  } as unknown as MemberStates
  const roles = new Map(Array.from({ length: members }, (_, at) => [at + 1, 'member' as const]))
  const group = { id: 7, types: null } as Group
  const view = new GroupView(
    group,
    roles,
    states,
    {
      onSnapshot: () => void sent.push('snapshot'),
      onMembers: (all) => (sent.push(all.map(({ userId }) => userId)), room),
      onChanged: () => void sent.push('changed'),
      onEnd: () => void sent.push('end'),
    },
    9,
  )
  view.start()
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await turns()
    return sent.splice(0)
  }
  return { view, group, roles, here, pass, slow: (until: Promise<void>) => (room = until) }
}

test('a page receives all members at once in events of 100, then what changes within half a second as one event', async (t) => {
  const { view, pass } = arrangeView(t, 250)
  assert.deepEqual(
    (await pass(0)).map((each) => (typeof each === 'string' ? each : each.length)),
    ['snapshot', 100, 100, 50],
  )
  for (let time = 0; time < 10; time++) view.note(3)
  view.note(4)
  view.note(999)
  assert.deepEqual(await pass(499), [])
  assert.deepEqual(await pass(1), [[3, 4]])
})

test('300 members who launch at once are two events a second at most', async (t) => {
  const { view, pass } = arrangeView(t, 300)
  await pass(0)
  let events = 0
  for (let time = 0; time < 50; time++) {
    for (let id = 1; id <= 300; id += 7) view.note(id)
    events += (await pass(100)).length
  }
  assert.ok(events <= 10, `${events} events in 5 s`)
})

test('a page that takes nothing receives nothing more until it does, and then the latest state once', async (t) => {
  const { view, pass, slow } = arrangeView(t, 3)
  await pass(0)
  const gate = Promise.withResolvers<void>()
  slow(gate.promise)
  view.note(1)
  assert.deepEqual(await pass(500), [[1]])
  for (let time = 0; time < 5; time++) view.note(2)
  assert.deepEqual(await pass(60_000), [])
  gate.resolve()
  await pass(0)
  assert.deepEqual(await pass(500), [[2]])
})

test('who is here is noticed at a check, and who has left the group is not sent any more', async (t) => {
  const { view, group, roles, here, pass } = arrangeView(t, 3)
  await pass(0)
  here.add(2)
  view.update(group, roles)
  assert.deepEqual(await pass(500), [[2]])
  view.note(3)
  view.update(group, new Map([...roles].filter(([id]) => id !== 3)))
  assert.deepEqual(await pass(500), ['changed', [1, 2]])
  view.note(3)
  view.end()
  assert.deepEqual(await pass(10_000), ['end'])
})
