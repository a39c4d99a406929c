import type { Member } from '@berth/api/schemas/groups.ts'
import type { ManagedGroupResponse, MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { listStatusOf } from '@berth/api/unblocked-statuses.ts'
import type { Tone } from '#/containers/containers.ts'

/** Keys of `groups.members.status`. */
export type StatusWord =
  'running' | 'paused' | 'stopped' | 'missing' | 'failed' | 'unknown' | 'blocked' | 'queued' | 'starting'

/** A container of a member as the page shows it. */
export interface ContainerView {
  readonly type: string
  /** The name of the type, as its owner reads it. */
  readonly name: string
  readonly word: StatusWord
  /** Position in the launch queue. */
  readonly place: number | null
  /** Why it does not run. */
  readonly reason: string | null
  readonly hasOutput: boolean
  /** What the viewer has asked about it. */
  readonly look: MemberState['containers'][number]['look']
}

export interface MemberView {
  readonly member: Member
  /** Undefined while the stream has not said it. */
  readonly isHere: boolean | undefined
  readonly containers: readonly ContainerView[]
}

/** What the page calls a member. */
export const nameOf = ({ name, user }: Member) => name ?? user.email

/** Whether the name or address of a member has this text, which is in lower case. */
export const isNamed = ({ name, user }: Member, text: string) =>
  user.email.includes(text) || (name !== null && name.toLowerCase().includes(text))

/** Types of a group, in the configured order. */
export type Launchables = ManagedGroupResponse['types']

/** Up to so many types each has a column; a group of more has one column for what its members have. */
const maxColumns = 4

/** Whether each type of the group has a column of its own. */
export const hasColumns = (types: Launchables) => types.length <= maxColumns

/** What managers choose from, in the order in which it needs them; each member may be in several. */
export const filters = ['all', 'failed', 'starting', 'asked', 'here', 'blocked'] as const
export type Filter = (typeof filters)[number]

/** What a member needs the teacher for, by urgency. */
export const needs = ['failed', 'waiting', 'asked'] as const
export type Need = (typeof needs)[number]

const words: Readonly<Record<MemberState['containers'][number]['status'], StatusWord>> = {
  ...listStatusOf,
  blocked: 'blocked',
}

/** Tone of a word. */
export const toneOf = (word: StatusWord): Tone => tones[word]

/** Whether a launch is under way. */
export const isUnderWay = (word: StatusWord) => word === 'queued' || word === 'starting'

const tones: Readonly<Record<StatusWord, Tone>> = {
  running: 'good',
  paused: 'idle',
  stopped: 'idle',
  missing: 'idle',
  failed: 'bad',
  unknown: 'busy',
  blocked: 'bad',
  queued: 'busy',
  starting: 'busy',
}

/** A member with what the stream reports; without it with what the list had. */
export function memberView(member: Member, state: MemberState | undefined, types: Launchables): MemberView {
  if (state) return { member, isHere: state.is_here, containers: inOrder(state.containers.map(liveView), types) }
  const containers = member.containers.map(({ container_type, status, is_blocked }) =>
    viewOf(container_type, is_blocked ? 'blocked' : status),
  )
  return { member, isHere: undefined, containers: inOrder(containers, types) }
}

/**
 * In the configured order and by display name. Where each type has a column, what does not exist yet has a place in it,
 * too.
 */
function inOrder(containers: readonly ContainerView[], types: Launchables): ContainerView[] {
  const lines = types.flatMap(({ type, display_name: name }) => {
    const known = containers.find((each) => each.type === type)
    if (known) return { ...known, name }
    return hasColumns(types) ? { ...viewOf(type, 'missing'), name } : []
  })
  return [...lines, ...containers.filter((each) => !types.some(({ type }) => type === each.type))]
}

/** Whether a member is one of those that the filter names. */
export function matches({ isHere, containers }: MemberView, filter: Filter): boolean {
  if (filter === 'all') return true
  if (filter === 'here') return isHere === true
  if (filter === 'failed' || filter === 'blocked') return containers.some(({ word }) => word === filter)
  if (filter === 'asked') return containers.some(isAsked)
  return containers.some(({ word }) => isUnderWay(word))
}

/** The most urgent of what a member needs the teacher for; undefined where there is nothing. */
export function needOf({ containers }: MemberView): Need | undefined {
  if (containers.some(({ word }) => word === 'failed')) return 'failed'
  if (containers.some(({ word }) => word === 'queued')) return 'waiting'
  return containers.some(isAsked) ? 'asked' : undefined
}

/** The viewer has asked for a look: the member has not answered yet, or has agreed, so that the viewer may look. */
export const isAsked = ({ look }: ContainerView) => look?.state === 'asked' || look?.state === 'open'

function liveView(container: MemberState['containers'][number]): ContainerView {
  const { type, status, stage, place, message: reason, has_output: hasOutput, look } = container
  // A block counts more than how a launch before it ended.
  if (status === 'blocked' || stage === null) return { ...viewOf(type, words[status]), reason, hasOutput, look }
  const word = stage === 'queued' || stage === 'failed' ? stage : 'starting'
  return { ...viewOf(type, word), place, reason, hasOutput, look }
}

const viewOf = (type: string, word: StatusWord): ContainerView => ({
  type,
  name: type,
  word,
  place: null,
  reason: null,
  hasOutput: false,
  look: null,
})
