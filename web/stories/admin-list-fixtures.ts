import type { AdminContainer, AdminUser, ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import type { Answer } from '@berth/api/endpoints.ts'
import { minutesAgo } from './user-fixtures.ts'

const ago = (hours: number) => minutesAgo(hours * 60)

/** The signed-in administrator. */
export const me = {
  id: 1,
  email: 'ada@faculty.example',
  slug: 'ada',
  is_admin: true,
  state: 'active',
  last_used: ago(0),
  created_at: ago(9_000),
} as const
export const meAnswer: Answer<'me'> = {
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

/** An ordinary user, the same one at every call. */
export function userOf(id: number, more: Partial<AdminUser> = {}): AdminUser {
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

/** Every state of a row. */
export const special: readonly AdminUser[] = [
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
const allUsers = [...special, ...Array.from({ length: 93 }, (_, at) => userOf(at + 8))]

/** A container of the list, the same one at every call. */
export const rowOf = (id: number, more: Partial<ListedContainer> = {}): ListedContainer => {
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

/** The same page at every call, for stable pictures: the cursor is the number of rows before. */
const page = <Row>(request: Request, rows: readonly Row[], total: number, more: (id: number) => Row) => {
  const asked = new URL(request.url).searchParams
  const from = Number(asked.get('cursor') ?? 0)
  const limit = Math.min(Number(asked.get('limit') ?? 100), total - from)
  const taken = Array.from({ length: limit }, (_, at) => rows[from + at] ?? more(from + at + 1))
  return { taken, next: from + limit < total ? String(from + limit) : null }
}

/** Responses of a list with this many rows. */
export const usersOf =
  (total: number) =>
  (request: Request): Answer<'listUsers'> => {
    const { taken, next } = page(request, allUsers, total, userOf)
    return { users: taken, next_cursor: next }
  }
export const containersOf =
  (total: number) =>
  (request: Request): Answer<'listAllContainers'> => {
    const { taken, next } = page(request, allContainers, total, rowOf)
    return { containers: taken, next_cursor: next }
  }

export const types: Answer<'listContainers'> = {
  containers: ['dev', 'prod'].map((type) => ({
    type,
    display_name: type,
    description: '',
    status: 'not_created',
    service_url: '',
    home: 'type',
    container_id: null,
    created_at: null,
    last_used: null,
    is_blocked: false,
    blocked_at: null,
  })),
}
const typeNames: Readonly<Record<string, string>> = { dev: 'Development', prod: 'Production' }
/** With names of their own, by which pages name types. */
export const namedTypes: Answer<'listContainers'> = {
  containers: types.containers.map((each) => ({ ...each, display_name: typeNames[each.type] ?? each.type })),
}
/** What every administration page requests. */
export const common = { me: meAnswer, listContainers: types }

/** What a sheet about a user, or about a container or group that they have, asks for. */
export const details = {
  readUser: (request: Request): Answer<'readUser'> => {
    const id = Number(/[0-9]+$/.exec(new URL(request.url).pathname)?.[0])
    const user = allUsers.find((each) => each.id === id) ?? userOf(id)
    return {
      user,
      containers: user.containers.map((each, at) => ({
        ...rowOf(each.id, each),
        email: user.email,
        slug: user.slug,
        ...(each.is_blocked && { status: 'stopped' as const }),
        home_bytes: [1_288_490_189, 52_428_800][at] ?? 0,
      })),
      groups: [
        { id: 3, name: 'Physics 7b', role: 'member' },
        { id: 9, name: 'Staff', role: 'manager' },
      ],
      sessions: [
        { created_at: ago(2), last_used: ago(0.1), browser: 'Firefox on Windows', taken_over_by: null },
        { created_at: ago(50), last_used: ago(20), browser: null, taken_over_by: null },
      ],
    }
  },
  listAudit: (request: Request): Answer<'listAudit'> => {
    const target = new URL(request.url).searchParams.get('target') ?? ''
    const kind = target.replace(/:.*$/, '')
    const actor = { id: 1, email: me.email }
    const detail = { address: '192.0.2.17', before: { is_blocked: false }, after: { is_blocked: true } }
    return {
      entries: [
        { id: 41, at: ago(3), actor, action: kind === 'group' ? 'group.change' : `${kind}.block`, target, detail },
        ...(kind === 'user'
          ? [{ id: 12, at: ago(400), actor, action: 'user.promote', target, detail: { address: '192.0.2.17' } }]
          : []),
      ],
      next_cursor: null,
      names: { 3: 'dmitri@students.example' },
    }
  },
} as const
