import { namedTypes } from '../admin-list-fixtures.ts'
import type { Group } from '@berth/api/schemas/groups.ts'
import type { PreviewedMember, TermEnd, TermEndMember } from '@berth/api/schemas/groups/term-end.ts'
import { ada, minutesAgo } from '../user-fixtures.ts'
import { Refused, type Story } from '../story.ts'

const day = 60 * 24
const group: Group = {
  id: 3,
  name: 'Physics 7b',
  description: '',
  source: 'local',
  types: ['dev', 'prod'],
  limits: { running: 1, memory: null, cpus: null, gpus: null, disk: null },
  expires_at: null,
  member_count: 4,
  folder: null,
}
const user = (id: number, name: string) => ({ id, email: `${name}@example.org`, slug: name.replaceAll('.', '') })
const previewed: PreviewedMember[] = [
  { user: user(12, 'ann'), outcome: 'untouched', reason: 'manager', archives: [], keeps: [] },
  {
    user: user(13, 'ben.with-a-rather-long-name-of-a-person'),
    outcome: 'removed',
    reason: null,
    archives: [
      { type: 'dev', bytes: 148_203_112 },
      { type: 'prod', bytes: null },
    ],
    keeps: [],
  },
  {
    user: user(14, 'cem'),
    outcome: 'stays',
    reason: 'group',
    archives: [{ type: 'dev', bytes: 3_203_112 }],
    keeps: ['prod'],
  },
  { user: user(15, 'dora'), outcome: 'removed', reason: null, archives: [], keeps: [] },
]
const sums = {
  members: 4,
  accounts: 2,
  staying: 1,
  untouched: 1,
  containers: 3,
  homes: 3,
  bytes: 151_406_224,
  homes_without_size: 1,
  free_bytes: 81_406_224_000,
  has_room: true,
}
const preview = { sums, members: previewed, next_cursor: null }
const none = { waiting: 0, archived: 0, mailed: 0, done: 0, kept: 0, failed: 0 }
const termEnd: TermEnd = {
  phase: 'archiving',
  problem: null,
  keep_accounts: false,
  remove_at: minutesAgo(-7 * day),
  keep_until: minutesAgo(-90 * day),
  started_at: minutesAgo(12),
  finished_at: null,
  started_by: 'ada@example.org',
  counts: { ...none, waiting: 1, mailed: 2 },
  archives: 2,
  archive_bytes: 51_406_224,
}
const members: TermEndMember[] = [
  {
    user: user(13, 'ben.with-a-rather-long-name-of-a-person'),
    state: 'mailed',
    problem: null,
    removes_account: true,
    archives: [{ type: 'dev', bytes: 48_203_112 }],
    downloads: 2,
  },
  { user: user(14, 'cem'), state: 'waiting', problem: 'archive', removes_account: false, archives: [], downloads: 0 },
  { user: user(15, 'dora'), state: 'mailed', problem: null, removes_account: true, archives: [], downloads: 0 },
]
const page = (answers: Story['answers']): Omit<Story, 'name'> => ({
  path: '/admin/groups/term-end?group=3',
  boot: { is_admin: true, has_groups: true, email: 'ada@example.org' },
  answers: {
    me: ada,
    listContainers: namedTypes,
    readGroup: { group },
    readTermEnd: { term_end: null },
    previewTermEnd: preview,
    ...answers,
  },
})
const underWay = (more: Partial<TermEnd>, shown = members) =>
  page({
    readTermEnd: { term_end: { ...termEnd, ...more } },
    listTermEndMembers: { members: shown, next_cursor: null },
  })
const failed = members.map((each) =>
  each.problem === null ? { ...each, state: 'done' as const } : { ...each, state: 'failed' as const },
)
const archivePage = (answers: NonNullable<Story['answers']>): Omit<Story, 'name'> => ({
  path: '/archive',
  state: { token: 'a'.repeat(43) },
  boot: { signed_in: false, csrf: null, email: null },
  answers,
})

/** The end of a group's term, and the page of a mailed link to archives. */
export const termEndStories: readonly Story[] = [
  { name: 'term-end/preview', ...page({}) },
  { name: 'term-end/no-room', ...page({ previewTermEnd: { ...preview, sums: { ...sums, has_room: false } } }) },
  {
    name: 'term-end/cannot-archive',
    ...page({ previewTermEnd: new Refused(409, 'This engine does not let Berth read homes. Nothing was changed.') }),
  },
  { name: 'term-end/ask', ...page({}), press: ['End the term…'] },
  { name: 'term-end/archiving', ...underWay({}) },
  { name: 'term-end/cancel', ...underWay({ counts: { ...none, mailed: 3 } }), press: ['Cancel…'] },
  { name: 'term-end/disk-full', ...underWay({ problem: 'disk' }) },
  { name: 'term-end/failed', ...underWay({ phase: 'done', counts: { ...none, done: 2, failed: 1 } }, failed) },
  {
    name: 'archive/files',
    ...archivePage({
      listArchives: {
        group: 'Physics 7b',
        keep_until: minutesAgo(-90 * day),
        archives: [
          { type: 'dev', display_name: 'Development environment', bytes: 48_203_112 },
          { type: 'prod', display_name: 'Production environment', bytes: 1_203 },
        ],
      },
    }),
  },
  {
    name: 'archive/over',
    ...archivePage({ listArchives: new Refused(404, 'There is no archive behind this link: it was deleted.') }),
  },
  { name: 'archive/incomplete', ...archivePage({}), state: null },
]
