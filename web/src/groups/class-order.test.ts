import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countBelow, keptOrder, orderOf } from './class-order.ts'
import type { MemberView, StatusWord } from './member-view.ts'

function view(id: number, email: string, word: StatusWord, more: Partial<MemberView['member']> = {}): MemberView {
  const container = { type: 'dev', name: 'Development', word, place: null, reason: null, hasOutput: false, look: null }
  return {
    member: { user: { id, email, slug: email }, name: null, role: 'member', containers: [], ...more },
    isHere: true,
    containers: [container],
  }
}
const asks = (of: MemberView): MemberView => ({
  ...of,
  containers: of.containers.map((each) => ({ ...each, look: { state: 'open', until: '', url: null } })),
})

test('who has failed, waits or was asked comes first, then managers, then the others by name or address, and number', () => {
  const views = [
    view(1, 'pupil.10@x.org', 'running'),
    view(2, 'pupil.2@x.org', 'running'),
    view(3, 'tom@x.org', 'running', { role: 'manager' }),
    asks(view(4, 'ann@x.org', 'running')),
    view(5, 'ben@x.org', 'queued'),
    view(6, 'cem@x.org', 'failed'),
    view(7, 'dora@x.org', 'starting'),
    view(8, 'zoe@x.org', 'running', { name: 'Élodie Martin' }),
  ]
  assert.deepEqual(orderOf(views), [6, 5, 4, 3, 7, 8, 2, 1])
})

/** The row under the finger of the teacher must not be another one when the finger comes down. */
test('no row moves while states change; who joins follows at the end, and how many need the teacher further down is counted', () => {
  const before = [view(1, 'a@x.org', 'failed'), view(2, 'b@x.org', 'running'), view(3, 'c@x.org', 'running')]
  const order = orderOf(before)
  const now = [
    view(1, 'a@x.org', 'running'),
    view(2, 'b@x.org', 'running'),
    view(3, 'c@x.org', 'failed'),
    view(4, 'aa@x.org', 'queued'),
  ]
  const kept = keptOrder(order, now)
  assert.deepEqual(kept, [1, 2, 3, 4])
  assert.equal(countBelow(kept, now), 2)
  assert.equal(countBelow(orderOf(now), now), 0)
  assert.equal(keptOrder(kept, now), kept)
  assert.deepEqual(keptOrder(kept, now.slice(1)), [2, 3, 4])
})
