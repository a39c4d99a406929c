import { details } from '../admin-list-fixtures.ts'
import type { Group, Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { namedTypes } from '../admin-list-fixtures.ts'
import { ada, ann, minutesAgo } from '../user-fixtures.ts'
import { never, Refused, type Story } from '../story.ts'

const day = 60 * 24
const physics: Group = {
  id: 3,
  name: 'Physics 7b',
  description: 'Tuesdays and Thursdays, room 12',
  source: 'local',
  types: ['dev', 'prod'],
  limits: { running: 1, memory: 4 * 1024 ** 3, cpus: 2, gpus: 1, disk: 10 * 1024 ** 3 },
  expires_at: minutesAgo(-200 * day),
  member_count: 4,
  folder: null,
}
const groups: Group[] = [
  physics,
  {
    ...physics,
    id: 5,
    name: 'Staff',
    description: '',
    source: 'school',
    types: null,
    expires_at: null,
    member_count: 41,
    folder: null,
  },
  {
    ...physics,
    id: 6,
    name: 'Introduction to programming for students of applied mathematics, winter term',
    limits: { running: null, memory: null, cpus: null, gpus: null, disk: null },
    expires_at: minutesAgo(3 * day),
    member_count: 0,
    folder: null,
  },
]
const container = (user_id: number, container_type: string, status: Member['containers'][number]['status']) => ({
  id: user_id * 10,
  user_id,
  container_type,
  container_id: 'c1',
  container_port: 8080,
  template_image: 'workspace',
  created_at: minutesAgo(40 * day),
  last_used: minutesAgo(30),
  is_blocked: false,
  blocked_at: null,
  blocked_by: null,
  status,
})
const member = (
  id: number,
  address: string,
  role: Member['role'],
  containers: Member['containers'],
  name: string | null = null,
): Member => ({
  user: { id, email: `${address}@example.org`, slug: address.replaceAll('.', '') },
  name,
  role,
  containers,
})
const blocked = { ...container(15, 'dev', 'stopped'), is_blocked: true, blocked_at: minutesAgo(5), blocked_by: 12 }
const members: Member[] = [
  member(12, 'ann', 'manager', [container(12, 'dev', 'running')]),
  member(13, 'ben.with-a-rather-long-name-of-a-person', 'member', [
    container(13, 'dev', 'running'),
    container(13, 'prod', 'failed'),
  ]),
  member(14, 'cem', 'member', [], 'Cem Yıldız'),
  member(15, 'dora', 'member', [blocked]),
]
const own = [
  { id: 3, name: 'Physics 7b', role: 'manager' as const },
  { id: 9, name: 'Chemistry 8a', role: 'member' as const },
]
const mine = { path: '/groups', boot: { has_groups: true }, answers: { me: ann, listOwnGroups: { groups: own } } }
const live = (
  type: string,
  status: MemberState['containers'][number]['status'],
  more: Partial<MemberState['containers'][number]> = {},
): MemberState['containers'][number] => ({
  type,
  status,
  message: null,
  stage: null,
  place: null,
  has_output: false,
  look: null,
  ...more,
})
const ended = 'Its program ended with exit code 3 before it could be used.'
const states: MemberState[] = [
  { user_id: 12, is_here: true, containers: [live('dev', 'running')] },
  {
    user_id: 13,
    is_here: true,
    containers: [
      live('dev', 'running'),
      live('prod', 'crashed', { stage: 'failed', message: ended, has_output: true }),
    ],
  },
  { user_id: 14, is_here: true, containers: [live('dev', 'missing', { stage: 'queued', place: 12 })] },
  { user_id: 15, is_here: false, containers: [live('dev', 'blocked')] },
]
const answers = {
  me: ann,
  listOwnGroups: { groups: own },
  listMembers: { members, next_cursor: null },
  listGroupInvitations: { invitations: [], next_cursor: null },
  readManagedGroup: {
    group: physics,
    types: [
      { type: 'dev', display_name: 'Development', may_ask_to_look: false },
      { type: 'prod', display_name: 'Production', may_ask_to_look: false },
    ],
    folder_path: null,
    folder_bytes: null,
    folder_type: null,
  },
}
const managed = {
  path: '/groups/members?group=3',
  boot: { has_groups: true },
  memberStates: states,
  answers,
}
/** A class that begins its lesson: most are here, some wait, one has failed. */
const firstNames = ['Ada', 'Ben', 'Chloe', 'Dmitri', 'Elif', 'Finn', 'Grace', 'Hiro', 'Ines', 'Jonas', 'Kemal']
const familyNames = ['Lovelace', 'Öztürk', 'von der Heydt-Lindenbaum']
const pupils = Array.from({ length: 31 }, (_, at) =>
  member(100 + at, `pupil.${at + 1}`, 'member', [], `${firstNames[at % 11]} ${familyNames[Math.floor(at / 11)]}`),
)
const lesson: MemberState[] = pupils.map(({ user: { id } }, at) => ({
  user_id: id,
  is_here: at % 9 !== 8,
  containers:
    at % 9 === 8
      ? []
      : at < 12
        ? [live('dev', 'running')]
        : at < 16
          ? [live('dev', 'asleep', { stage: 'starting' })]
          : at === 20
            ? [live('dev', 'crashed', { stage: 'failed', message: ended, has_output: true })]
            : [live('dev', 'missing', { stage: 'queued', place: at - 15 })],
}))
const class31 = {
  ...managed,
  memberStates: lesson,
  answers: {
    ...answers,
    listMembers: { members: pupils, next_cursor: null },
    readManagedGroup: {
      ...answers.readManagedGroup,
      types: [...answers.readManagedGroup.types, { type: 'sim', display_name: 'Simulation', may_ask_to_look: false }],
    },
  },
}
/** A year of which the list comes in two pages: who has failed is on the second. */
const year = (last: Member[] | typeof never) => ({
  ...class31,
  answers: {
    ...answers,
    listMembers: ({ url }: Request) => {
      if (!new URL(url).searchParams.has('cursor')) return { members: pupils.slice(0, 14), next_cursor: '113' }
      return last === never ? never : { members: last, next_cursor: null }
    },
  },
})
/** Members who were asked for a look: not yet, without an answer, declined, agreed. */
const look = (state: 'asked' | 'declined' | 'open') => ({
  state,
  until: minutesAgo(-40),
  url: state === 'open' ? 'http://spawner.berth.localhost:8080/pupil4-dev' : null,
})
const lookStates: MemberState[] = [null, look('asked'), look('declined'), look('open')].map((each, at) => ({
  user_id: 100 + at,
  is_here: true,
  containers: [live('dev', 'running', { look: each })],
}))
const looks = {
  ...managed,
  boot: { has_groups: true, sharing: { people: true, groups: true, max_seconds: 86_400 } },
  memberStates: lookStates,
  answers: {
    ...answers,
    listMembers: { members: pupils.slice(0, 4), next_cursor: null },
    readManagedGroup: {
      group: physics,
      types: [{ type: 'dev', display_name: 'Development', may_ask_to_look: true }],
      folder_path: null,
      folder_bytes: null,
      folder_type: null,
    },
  },
}
const admin = {
  path: '/admin/groups',
  boot: { is_admin: true, has_groups: true, email: 'ada@example.org' },
  answers: { me: ada, listGroups: { groups, next_cursor: null }, listContainers: namedTypes },
}

/** Groups: one's own, those that a manager manages, and all of them. */
export const groupStories: readonly Story[] = [
  { name: 'groups/own', ...mine },
  {
    name: 'groups/wrong-code',
    ...mine,
    path: '/groups?code=ABCDE-FGHJK',
    answers: {
      ...mine.answers,
      joinGroup: new Refused(404, 'No group has this code. Check its spelling, or ask for a new one: codes expire.'),
    },
    press: ['Join'],
  },
  { name: 'groups/members', ...managed },
  {
    name: 'groups/folder',
    ...managed,
    answers: {
      ...managed.answers,
      readManagedGroup: {
        ...answers.readManagedGroup,
        group: { ...answers.readManagedGroup.group, folder: { name: 'algorithms', members: 'read' } },
        folder_path: '/home/berth/groups',
        folder_bytes: 48_000_000,
        folder_type: 'dev',
      },
    },
    press: ['Folder'],
  },
  {
    name: 'groups/join-code',
    ...managed,
    answers: {
      ...managed.answers,
      readJoinCode: { code: null, expires_at: null },
      createJoinCode: { code: 'K7QWE-3MXPA', expires_at: minutesAgo(-7 * day) },
    },
    press: ['Join code', 'Create a new code'],
  },
  {
    name: 'groups/added',
    ...managed,
    answers: {
      ...managed.answers,
      addMembers: {
        added: ['cem@example.org'],
        invited: ['new@example.org'],
        refused: ['more@example.org', 'ann@example'],
      },
    },
    press: [
      'Add members',
      'E-mail addresses = cem@example.org new@example.org more@example.org ann@example\nnonsense',
      'Add',
    ],
  },
  {
    name: 'groups/checked',
    ...managed,
    answers: {
      ...answers,
      previewMembers: {
        addresses: [
          { email: 'cem@example.org', effect: 'member' },
          { email: 'new@example.org', effect: 'invite' },
          { email: 'eve@example.org', effect: 'join' },
          { email: 'ida@elsewhere.org', effect: 'not_allowed' },
        ],
      },
    },
    press: [
      'Add members',
      'E-mail addresses = name;e-mail\nCem;cem@example.org\nNew;new@example.org\nEve;eve@example.org\nIda;ida@elsewhere.org\nOtto;',
      'Check first',
    ],
  },
  {
    name: 'groups/unusable-lines',
    ...managed,
    answers: { ...answers, previewMembers: { addresses: [{ email: 'cem@example.org', effect: 'member' }] } },
    press: [
      'Add members',
      `E-mail addresses = name;e-mail\nCem;cem@example.org\n${Array.from({ length: 60 }, (_, at) => `Pupil ${at + 1};`).join('\n')}`,
      'Check first',
    ],
  },
  {
    name: 'groups/columns',
    ...managed,
    press: [
      'Add members',
      'E-mail addresses = name;e-mail;parents\nCem;cem@example.org;family.of.cem@example.org\nNew;new@example.org;family.of.new@example.org',
    ],
  },
  {
    name: 'groups/invitations',
    ...managed,
    answers: {
      ...answers,
      listMembers: { members: members.slice(0, 1), next_cursor: null },
      listGroupInvitations: {
        invitations: [
          {
            id: 4,
            email: 'new@example.org',
            name: 'Nora Newman',
            role: 'member',
            invited_by: 'ann@example.org',
            created_at: minutesAgo(2 * day),
            expires_at: minutesAgo(-88 * day),
          },
        ],
        next_cursor: null,
      },
    },
  },
  {
    name: 'groups/hours',
    ...managed,
    answers: {
      ...answers,
      readTimetable: {
        timetable: {
          time_zone: 'Europe/Berlin',
          lessons: [{ days: [2, 4], at: '08:00', container_type: 'dev' }],
          stop_at: '22:00',
          exceptions: [{ date: '2026-12-24', lessons: [], stops: false }],
        },
        default_time_zone: 'UTC',
      },
    },
    press: ['Hours'],
  },
  { name: 'groups/stop-all', ...managed, press: ['Stop for all'] },
  { name: 'groups/start-all', ...managed, press: ['Start for all'] },
  { name: 'groups/rare', ...managed, press: ['Block or end the group'] },
  { name: 'groups/end', ...managed, press: ['Block or end the group', 'End the group'] },
  { name: 'groups/class', ...class31 },
  { name: 'groups/two-pages', ...year(pupils.slice(14)), press: ['Failed1Failed: 1'] },
  { name: 'groups/second-page-missing', ...year(never) },
  { name: 'groups/class-waiting', ...class31, press: ['Starting or waiting16Starting or waiting: 16'] },
  {
    name: 'groups/failed-start',
    ...managed,
    answers: {
      ...answers,
      readMemberFailure: {
        message: ended,
        exit_code: 3,
        last_lines: [
          'Traceback (most recent call last):',
          '  File "/home/app/main.py", line 3',
          'ModuleNotFoundError: numpy',
        ],
      },
    },
    press: [
      'ben.with-a-rather-long-name-of-a-person@example.org',
      'Why?Why Production of ben.with-a-rather-long-name-of-a-person@example.org did not start',
    ],
  },
  { name: 'groups/member', ...managed, press: ['ben.with-a-rather-long-name-of-a-person@example.org'] },
  { name: 'groups/looks', ...looks },
  {
    name: 'groups/look-refused',
    ...looks,
    answers: {
      ...looks.answers,
      askToLook: new Refused(
        429,
        'You cannot ask this member now: they declined, or you have asked several times. Try again in 30 minutes, or talk to them.',
      ),
    },
    press: ['Ada Lovelace', 'May I look?Ask pupil.1@example.org to let you look at Development'],
  },
  { name: 'groups/empty', ...managed, answers: { ...answers, listMembers: { members: [], next_cursor: null } } },
  {
    name: 'groups/many-types',
    ...managed,
    answers: {
      ...answers,
      readManagedGroup: {
        ...answers.readManagedGroup,
        types: [
          ...answers.readManagedGroup.types,
          ...['sim', 'lab', 'art'].map((type) => ({ type, display_name: type, may_ask_to_look: false })),
        ],
      },
    },
  },
  { name: 'groups/not-live', path: managed.path, boot: managed.boot, answers },
  {
    name: 'groups/not-manager',
    ...managed,
    memberStates: [],
    answers: {
      ...answers,
      readManagedGroup: new Refused(403, 'Only managers of this group and administrators may do this.'),
    },
  },
  { name: 'admin-groups/many', ...admin },
  { name: 'admin-groups/none', ...admin, answers: { ...admin.answers, listGroups: { groups: [], next_cursor: null } } },
  {
    name: 'admin-groups/details',
    ...admin,
    answers: { ...admin.answers, listAudit: details.listAudit },
    press: ['Physics 7b'],
  },
  { name: 'admin-groups/edit', ...admin, press: ['EditEdit the group Physics 7b'] },
]
