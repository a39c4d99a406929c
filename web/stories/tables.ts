import type { AdminContainer, AdminUser, ListedContainer } from '@berth/api/admin.ts'
import type { Answer } from '@berth/api/endpoints.ts'
import { minutesAgo } from './people.ts'
import { Refused, never, unreachable, type Story } from './story.ts'

const ago = (hours: number) => minutesAgo(hours * 60)

const me = {
  id: 1,
  email: 'ada@faculty.example',
  slug: 'ada',
  is_admin: true,
  state: 'active',
  last_used: ago(0),
  created_at: ago(9_000),
} as const
const meAnswer: Answer<'me'> = {
  user: me,
  container: { id: null, port: null, status: 'no_container', service_url: '' },
}

const names = ['anna', 'ben', 'chloe', 'dmitri', 'elif', 'finn', 'grace', 'hiro', 'ines', 'jonas', 'kemal', 'lena']

function containerOf(id: number, owner: number, type: string, more: Partial<AdminContainer> = {}): AdminContainer {
  return {
    id,
    user_id: owner,
    container_type: type,
    container_id: `c${id}`,
    container_port: 8080,
    template_image: type === 'dev' ? 'registry.example/editor:4.2' : 'registry.example/desktop:1.9',
    created_at: ago(700),
    last_used: ago(id % 90),
    is_blocked: false,
    blocked_at: null,
    blocked_by: null,
    ...more,
  }
}

function userOf(id: number, more: Partial<AdminUser> = {}): AdminUser {
  const name = `${names[id % names.length]}${id > names.length ? id : ''}`
  return {
    id,
    email: `${name}@students.example`,
    slug: name,
    state: 'active',
    is_admin: false,
    is_blocked: false,
    last_used: ago(id * 3),
    created_at: ago(2_000 + id * 7),
    containers: id % 4 === 3 ? [] : [containerOf(id * 2, id, 'dev'), containerOf(id * 2 + 1, id, 'prod')].slice(id % 2),
    ...more,
  }
}

/** Everything that a row can be. */
const special: readonly AdminUser[] = [
  { ...userOf(1), ...me, is_blocked: false },
  userOf(2, { state: 'registered', last_used: null, containers: [] }),
  userOf(3, {
    is_blocked: true,
    containers: [containerOf(6, 3, 'dev', { is_blocked: true }), containerOf(7, 3, 'prod', { is_blocked: true })],
  }),
  userOf(4, { is_admin: true }),
  userOf(5, { state: 'verified', containers: [] }),
  userOf(6, {
    email: 'maximiliane.von-der-heydt-lindenthal+practical.course@physics.university.example',
    slug: 'maxi',
  }),
  userOf(7, { is_admin: true, is_blocked: true, containers: [containerOf(14, 7, 'dev', { is_blocked: true })] }),
]
const everybody = [...special, ...Array.from({ length: 93 }, (_, at) => userOf(at + 8))]

const rowOf = (id: number, more: Partial<ListedContainer> = {}): ListedContainer => {
  const owner = userOf(Math.ceil(id / 2))
  const record = containerOf(id, owner.id, id % 3 === 0 ? 'prod' : 'dev')
  const status = (['running', 'stopped', 'running', 'paused', 'stopped'] as const)[id % 5]!
  return { ...record, email: owner.email, slug: owner.slug, status, ...more }
}
const allContainers = [
  rowOf(1),
  rowOf(2, { is_blocked: true, status: 'stopped', blocked_at: ago(3), blocked_by: 1 }),
  rowOf(3, { status: 'failed' }),
  rowOf(4, { status: 'missing', last_used: null, container_id: null }),
  rowOf(5, { status: 'unknown' }),
  rowOf(6, {
    status: 'paused',
    email: 'maximiliane.von-der-heydt-lindenthal+practical.course@physics.university.example',
    template_image: 'registry.university.example:5000/physics/practical-course/notebook-with-everything:2026.11.3',
  }),
  ...Array.from({ length: 94 }, (_, at) => rowOf(at + 7)),
]

/** One of the list at random would make another picture each time: the cursor is the number of rows before. */
const page = <Row>(request: Request, rows: readonly Row[], total: number, more: (id: number) => Row) => {
  const asked = new URL(request.url).searchParams
  const from = Number(asked.get('cursor') ?? 0)
  const limit = Math.min(Number(asked.get('limit') ?? 100), total - from)
  const taken = Array.from({ length: limit }, (_, at) => rows[from + at] ?? more(from + at + 1))
  return { taken, next: from + limit < total ? String(from + limit) : null }
}

const usersOf =
  (total: number) =>
  (request: Request): Answer<'listUsers'> => {
    const { taken, next } = page(request, everybody, total, userOf)
    return { users: taken, next_cursor: next }
  }
const containersOf =
  (total: number) =>
  (request: Request): Answer<'listAllContainers'> => {
    const { taken, next } = page(request, allContainers, total, rowOf)
    return { containers: taken, next_cursor: next }
  }

const users = '/admin/users'
const containers = '/admin/containers'
const types: Answer<'listContainers'> = {
  containers: ['dev', 'prod'].map((type) => ({
    type,
    display_name: type,
    description: '',
    status: 'not_created',
    service_url: '',
    container_id: null,
    created_at: null,
    last_used: null,
    is_blocked: false,
    blocked_at: null,
  })),
}
const common = { me: meAnswer, listContainers: types }
const full: Story['answers'] = { ...common, listUsers: usersOf(100_000), countUsers: { count: 100_000 } }
const some: Story['answers'] = { ...common, listUsers: usersOf(7), countUsers: { count: 7 } }
const allFull: Story['answers'] = {
  ...common,
  listAllContainers: containersOf(41_210),
  countContainers: { count: 41_210 },
}
const boot: Story['boot'] = { is_admin: true }

/** The server does as it is told, but for the last administrator. */
const bulkUsers = (isBlocked: boolean) => (): Answer<'bulkBlockUsers'> => ({
  message: 'Done.',
  users: [userOf(2, { is_blocked: isBlocked }), userOf(5, { is_blocked: isBlocked })],
  not_found: [6],
  refused: [{ id: 4, error: 'This is the last administrator who is not blocked.' }],
})
const preview: Answer<'previewBlock'> = {
  sessions: 0,
  containers: [
    { id: 16, container_type: 'dev', is_running: true, is_blocked: false },
    { id: 17, container_type: 'prod', is_running: false, is_blocked: false },
    { id: 18, container_type: 'gpu', is_running: false, is_blocked: true },
  ],
}
const second = 'Actions for chloe@students.example'
const third = 'Actions for dmitri@students.example'
const invited: Answer<'invite'> = {
  message: '2 people were invited.',
  invitations: [
    { email: 'new@students.example', status: 'invited', link: 'https://berth.example/verify-signup?token=abc' },
    { email: 'also-new@students.example', status: 'invited', link: 'https://berth.example/verify-signup?token=def' },
    { email: 'anna@students.example', status: 'already-registered' },
    { email: 'nonsense', status: 'invalid' },
    { email: 'late@students.example', status: 'failed' },
  ],
}

/** Tables of users and containers, and all that is asked in front of them. */
export const tableStories: readonly Story[] = [
  { name: 'users/full', path: users, boot, answers: full },
  { name: 'users/sorted', path: `${users}?sort=-last_used`, boot, answers: full },
  { name: 'users/filtered', path: `${users}?q=student&state=active&is_blocked=false`, boot, answers: some },
  { name: 'users/few', path: users, boot, answers: some },
  { name: 'users/loading', path: users, boot, answers: { ...common, listUsers: never, countUsers: never } },
  {
    name: 'users/nobody',
    path: `${users}?q=nobody+has+this+name`,
    boot,
    answers: { ...common, listUsers: { users: [], next_cursor: null }, countUsers: { count: 0 } },
  },
  {
    name: 'users/failed',
    path: users,
    boot,
    answers: {
      ...common,
      listUsers: new Refused(400, 'The cursor is not one of this list.'),
      countUsers: { count: 7 },
    },
  },
  {
    name: 'users/unreachable',
    path: users,
    boot,
    answers: { me: meAnswer, listContainers: types, listUsers: unreachable, countUsers: unreachable },
  },
  {
    name: 'users/next-page-failed',
    path: users,
    boot,
    answers: {
      ...common,
      listUsers: (request) =>
        request.url.includes('cursor=')
          ? new Refused(400, 'The cursor is not one of this list.')
          : { users: [...special], next_cursor: 'x' },
      countUsers: { count: 4_213 },
    },
  },
  {
    name: 'users/forbidden',
    path: users,
    answers: {
      me: { ...meAnswer, user: { ...me, is_admin: false } },
      listContainers: types,
      listUsers: new Refused(403, 'Only administrators may do this.'),
      countUsers: new Refused(403, 'Only administrators may do this.'),
    },
  },
  {
    name: 'users/selected',
    path: users,
    boot,
    answers: full,
    press: ['Select chloe@students.example', 'Select elif@students.example'],
  },
  {
    name: 'users/selected-all',
    path: users,
    boot,
    answers: full,
    press: ['Select all rows that are loaded', 'Select all 100,000 that match'],
  },
  {
    name: 'users/bulk-question',
    path: users,
    boot,
    answers: some,
    press: ['Select all rows that are loaded', 'Block'],
  },
  {
    name: 'users/bulk-running',
    path: users,
    boot,
    answers: { ...full, bulkBlockUsers: never },
    press: ['Select all rows that are loaded', 'Select all 100,000 that match', 'Block', 'Block'],
  },
  {
    name: 'users/bulk-done',
    path: users,
    boot,
    answers: { ...some, bulkBlockUsers: bulkUsers(true), bulkUnblockUsers: bulkUsers(false) },
    press: ['Select all rows that are loaded', 'Block', 'Block'],
  },
  { name: 'users/menu', path: users, boot, answers: full, press: [second] },
  { name: 'users/menu-self', path: users, boot, answers: full, press: ['Actions for ada@faculty.example'] },
  { name: 'users/details', path: users, boot, answers: full, press: ['dmitri@students.example'] },
  {
    name: 'users/block',
    path: users,
    boot,
    answers: { ...full, previewBlock: preview },
    press: ['Actions for chloe@students.example', 'Block…'],
  },
  {
    name: 'users/block-refused',
    path: users,
    boot,
    answers: {
      ...full,
      previewBlock: { sessions: 0, containers: [] },
      blockUser: new Refused(409, 'This is the last administrator who is not blocked. Make somebody else one first.'),
    },
    press: ['Actions for elif@students.example', 'Block…', 'Block'],
  },
  {
    name: 'users/blocked',
    path: users,
    boot,
    answers: {
      ...full,
      previewBlock: preview,
      blockUser: { message: 'Blocked.', user: userOf(2, { is_blocked: true }) },
    },
    press: ['Actions for chloe@students.example', 'Block…', 'Block'],
  },
  { name: 'users/unblock', path: users, boot, answers: full, press: [third, 'Unblock…'] },
  {
    name: 'users/take-over',
    path: users,
    boot,
    answers: full,
    press: [third, 'Act for them…', 'Reason = The simulation does not start, as you wrote.'],
  },
  { name: 'users/promote', path: users, boot, answers: full, press: [third, 'Make administrator…'] },
  {
    name: 'users/demote',
    path: users,
    boot,
    answers: full,
    press: ['Actions for elif@students.example', 'Remove as administrator…'],
  },
  {
    name: 'users/delete',
    path: users,
    boot,
    answers: full,
    press: [third, 'Delete…', 'Type dmitri@students.example to confirm = dmitri@students.example'],
  },
  { name: 'users/invite', path: users, boot, answers: full, press: ['Invite people'] },
  {
    name: 'users/invited',
    path: users,
    boot,
    answers: { ...full, invite: invited },
    press: [
      'Invite people',
      'E-mail addresses = new@students.example',
      'Show the links, to be passed on by hand',
      'Invite 1 person',
    ],
  },
  { name: 'containers/full', path: containers, boot, answers: allFull },
  {
    name: 'containers/filtered',
    path: `${containers}?status=failed&container_type=dev`,
    boot,
    answers: {
      ...common,
      listAllContainers: {
        containers: [rowOf(3, { status: 'failed' }), rowOf(13, { status: 'failed' })],
        next_cursor: null,
      },
      countContainers: { count: 2 },
    },
  },
  {
    name: 'containers/none',
    path: containers,
    boot,
    answers: { ...common, listAllContainers: { containers: [], next_cursor: null }, countContainers: { count: 0 } },
  },
  {
    name: 'containers/nothing-found',
    path: `${containers}?q=nobody`,
    boot,
    answers: { ...common, listAllContainers: { containers: [], next_cursor: null }, countContainers: { count: 0 } },
  },
  {
    name: 'containers/selected',
    path: containers,
    boot,
    answers: allFull,
    press: ['Select all rows that are loaded'],
  },
  {
    name: 'containers/menu',
    path: containers,
    boot,
    answers: allFull,
    press: ['Actions for dev of ben@students.example'],
  },
  {
    name: 'containers/block',
    path: containers,
    boot,
    answers: allFull,
    press: ['Actions for dev of ben@students.example', 'Block…'],
  },
  {
    name: 'containers/delete',
    path: containers,
    boot,
    answers: allFull,
    press: ['Actions for dev of ben@students.example', 'Delete…'],
  },
]
