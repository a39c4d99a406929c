import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenStreams } from '#/containers/open-streams.ts'
import type { UserEventObserver } from '#/containers/user-events.ts'
import type { Db } from '#/store/database.ts'
import type { Group } from '#/store/groups.ts'
import { GroupWatch } from './group-watch.ts'
import type { MemberStates } from './member-states.ts'

function arrange() {
  const observers = new Set<UserEventObserver>()
  const streams = new OpenStreams()
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
