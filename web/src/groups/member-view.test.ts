import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { reduceStates } from './member-states-store.ts'
import { filters, matches, memberView } from './member-view.ts'

const member: Member = { user: { id: 1, email: 'a@x.org', slug: 'a' }, name: null, role: 'member', containers: [] }
const types = [{ type: 'dev', display_name: 'Development', may_ask_to_look: false }]
type Container = MemberState['containers'][number]
const stateWith = (container: Partial<Container> = {}, is_here = true): MemberState => ({
  user_id: 1,
  is_here,
  containers: [
    {
      type: 'dev',
      status: 'running',
      message: null,
      stage: null,
      place: null,
      has_output: false,
      look: null,
      ...container,
    },
  ],
})
const wordOf = (container: Partial<Container>) => memberView(member, stateWith(container), types).containers[0]?.word

test('a launch that is under way is shown before what the container did last', () => {
  assert.equal(wordOf({}), 'running')
  assert.equal(wordOf({ status: 'asleep' }), 'stopped')
  assert.equal(wordOf({ status: 'evicted' }), 'stopped')
  assert.equal(wordOf({ status: 'node-lost' }), 'unknown')
  assert.equal(wordOf({ status: 'asleep', stage: 'queued', place: 3 }), 'queued')
  for (const stage of ['pulling', 'creating', 'starting', 'waiting'] as const)
    assert.equal(wordOf({ status: 'missing', stage }), 'starting')
  for (const status of ['crashed', 'out-of-memory', 'no-image', 'failed'] as const)
    assert.equal(wordOf({ status }), 'failed')
  assert.equal(wordOf({ status: 'blocked', stage: 'failed' }), 'blocked')
})

test('without the stream the list of members says what their containers do, and not who is here', () => {
  const container = { container_type: 'dev', status: 'running', is_blocked: true } as Member['containers'][number]
  const { isHere, containers } = memberView({ ...member, containers: [container] }, undefined, types)
  assert.deepEqual([isHere, containers[0]?.word], [undefined, 'blocked'])
})

/**
 * Rows grew with each container that came, under the finger of the teacher; and they said `dev` where its owner reads
 * Development.
 */
test('a row has a place for each type from the start, in the configured order and by display names', () => {
  const two = [{ type: 'lab', display_name: 'Physics lab', may_ask_to_look: true }, ...types]
  const linesOf = (state: MemberState | undefined, of = two) =>
    memberView(member, state, of).containers.map(({ name, word }) => `${name}: ${word}`)
  assert.deepEqual(linesOf(undefined), ['Physics lab: missing', 'Development: missing'])
  assert.deepEqual(linesOf(stateWith()), ['Physics lab: missing', 'Development: running'])
  assert.deepEqual(linesOf(stateWith({ type: 'gone' })), [
    'Physics lab: missing',
    'Development: missing',
    'gone: running',
  ])
  const many = [...Array(5).keys()].map((at) => ({ type: `t${at}`, display_name: `T${at}`, may_ask_to_look: false }))
  assert.deepEqual(linesOf(stateWith(), [...many, ...types]), ['Development: running'])
})

test('each filter finds the members that its name says', () => {
  const found = (state: MemberState) => filters.filter((filter) => matches(memberView(member, state, types), filter))
  assert.deepEqual(found(stateWith()), ['all', 'here'])
  assert.deepEqual(found(stateWith({ stage: 'queued' }, false)), ['all', 'starting'])
  for (const [state, names] of [
    ['asked', ['all', 'asked']],
    ['open', ['all', 'asked']],
    ['declined', ['all']],
  ] as const)
    assert.deepEqual(found(stateWith({ look: { state, until: '', url: null } }, false)), names)
  assert.deepEqual(found(stateWith({ status: 'crashed' }, false)), ['all', 'failed'])
  assert.deepEqual(found(stateWith({ status: 'blocked' }, false)), ['all', 'blocked'])
})

test('a snapshot replaces all states; members that an event does not name keep theirs', () => {
  const [one, two] = [stateWith(), { ...stateWith(), user_id: 2 }]
  const known = reduceStates(new Map(), [{ name: 'members', data: { members: [one, two] } }])
  const changed = reduceStates(known, [{ name: 'members', data: { members: [stateWith({ status: 'paused' })] } }])
  assert.equal(changed.get(2), two)
  assert.equal(changed.get(1)?.containers[0]?.status, 'paused')
  assert.deepEqual([...reduceStates(changed, [{ name: 'snapshot', data: {} }])], [])
})
