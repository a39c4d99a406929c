import Type from 'typebox'
import { Instant, OneOf, OrNull, instant } from '../shapes.ts'

/** Of the end of a group's term: what it will do, how far it is, and archives for the holders of mailed links. */

const limit = Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })
const cursor = Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })
const count = (description: string) => Type.Integer({ description })
const User = Type.Object({ id: Type.Integer(), email: Type.String(), slug: Type.String() })
const token = Type.String({ minLength: 1, maxLength: 200, description: 'Of the link, behind `token=`' })

export const TermEndPreviewQuery = Type.Object({
  limit: Type.Optional(limit),
  cursor: Type.Optional(cursor),
  keep_accounts: Type.Optional(Type.String({ pattern: '^true$', description: '`true`: no account is removed' })),
})

export const TermEndSums = Type.Object({
  members: count('Members of the group'),
  accounts: count('Accounts that are removed'),
  staying: count('Members who keep their account and leave the group'),
  untouched: count('Members whom it leaves as they are: managers, administrators and blocked users'),
  containers: count('Containers that are removed'),
  homes: count('Homes that are archived and removed'),
  bytes: count('Of the homes whose size is known'),
  homes_without_size: count('Homes that were never measured'),
  free_bytes: count('That archives may take on their disk'),
  has_room: Type.Boolean({ description: 'False: it is refused for want of room' }),
})
export type TermEndSums = Type.Static<typeof TermEndSums>

export const PreviewedMember = Type.Object({
  user: User,
  outcome: OneOf(['removed', 'stays', 'untouched'], {
    description: '`removed`: with the account; `stays`: leaves the group; `untouched`: nothing changes',
  }),
  reason: OrNull(OneOf(['option', 'group', 'container', 'administrator', 'manager', 'blocked']), {
    description:
      'Why the account is not removed: as asked for, in another group, has containers of other types, or who they are',
  }),
  archives: Type.Array(Type.Object({ type: Type.String(), bytes: OrNull(Type.Integer()) }), {
    description: 'Homes that are archived and removed with their containers; `bytes` as far as known',
  }),
  keeps: Type.Array(Type.String(), { description: 'Types whose containers and homes stay' }),
})
export type PreviewedMember = Type.Static<typeof PreviewedMember>

export const TermEndPreviewResponse = Type.Object({
  sums: OrNull(TermEndSums, { description: 'With the first page alone' }),
  members: Type.Array(PreviewedMember),
  next_cursor: OrNull(Type.String()),
})
export type TermEndPreviewResponse = Type.Static<typeof TermEndPreviewResponse>

export const TermEndBody = Type.Object({
  keep_until: Type.String({
    format: 'date-time',
    description: 'Until when archives can be downloaded; then they are deleted',
  }),
  remove_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Nothing is removed before, and until then it can be cancelled; default: as soon as all is mailed',
    }),
  ),
  keep_accounts: Type.Optional(Type.Boolean({ description: 'True: no account is removed' })),
})
export type TermEndBody = Type.Static<typeof TermEndBody>

export const TermEnd = Type.Object({
  phase: OneOf(['archiving', 'removing', 'done'], {
    description: '`archiving`: homes are archived and mails sent, and it waits for `remove_at`; it can be cancelled',
  }),
  problem: OrNull(OneOf(['disk', 'engine', 'administrator']), {
    description:
      'Why it waits, and goes on by itself: the disk of the archives is full, the engine does not answer, or who began it is no administrator any more (`retry` by another one goes on)',
  }),
  keep_accounts: Type.Boolean(),
  remove_at: Instant,
  keep_until: Instant,
  started_at: Instant,
  finished_at: OrNull(Instant),
  started_by: Type.String({ description: 'Address of the administrator, or `user:{id}` when the account is deleted' }),
  counts: Type.Object(
    {
      waiting: count('For their archives'),
      archived: count('For their mail'),
      mailed: count('For the removal'),
      done: count('Removed, or gone'),
      kept: count('Left as they are, because they left the group, became manager or administrator, or were blocked'),
      failed: count('Left as they are, because a step failed eight times, or `keep_until` passed before'),
    },
    { description: 'Members by state' },
  ),
  archives: count('Archives that are made'),
  archive_bytes: count('On the disk'),
})
export type TermEnd = Type.Static<typeof TermEnd>

export const TermEndResponse = Type.Object({
  term_end: OrNull(TermEnd, { description: 'The latest of the group; null: none, or its archives are deleted' }),
})
export type TermEndResponse = Type.Static<typeof TermEndResponse>

export const TermEndMembersQuery = Type.Object({ limit: Type.Optional(limit), cursor: Type.Optional(cursor) })
export const TermEndMember = Type.Object({
  user: User,
  state: OneOf(['waiting', 'archived', 'mailed', 'done', 'kept', 'failed']),
  problem: OrNull(OneOf(['archive', 'mail', 'removal', 'changed', 'late']), {
    description: 'The step that failed; `late`: `keep_until` passed before the removal',
  }),
  removes_account: Type.Boolean(),
  archives: Type.Array(Type.Object({ type: Type.String(), bytes: Type.Integer() })),
  downloads: count('Downloads by the link'),
})
export type TermEndMember = Type.Static<typeof TermEndMember>
export const TermEndMembersResponse = Type.Object({
  members: Type.Array(TermEndMember),
  next_cursor: OrNull(Type.String()),
})
export type TermEndMembersResponse = Type.Static<typeof TermEndMembersResponse>

export const ArchivesBody = Type.Object({ token })
export const ArchivesResponse = Type.Object({
  group: Type.String(),
  keep_until: instant('When the archives are deleted'),
  archives: Type.Array(
    Type.Object({
      type: Type.String(),
      display_name: Type.String({ description: 'Of the type; its key when it is not configured any more' }),
      bytes: Type.Integer(),
    }),
  ),
})
export type ArchivesResponse = Type.Static<typeof ArchivesResponse>
export const DownloadArchiveBody = Type.Object({ token, type: Type.String({ maxLength: 100 }) })
export const DownloadArchiveResponse = Type.Object({
  path: Type.String({ description: 'Where the file is, once, within a minute' }),
})
export const ArchiveParams = Type.Object({ ticket: Type.String() })
