import type { AdminApiToken, ApiToken } from '@berth/api/schemas/api-tokens.ts'
import { ada, ann, minutesAgo } from '../user-fixtures.ts'
import { never, Refused, type Story } from '../story.ts'

const day = 60 * 24
const nightly: ApiToken = {
  id: 7,
  name: 'Nightly tests',
  scopes: ['containers:read', 'containers:write'],
  created_at: minutesAgo(12 * day),
  expires_at: minutesAgo(-78 * day),
  last_used: minutesAgo(40),
}
const tokens: ApiToken[] = [
  nightly,
  {
    ...nightly,
    id: 5,
    name: 'Grading of exercise sheets, winter term, together with the institute of applied mathematics',
    scopes: ['containers:read'],
    last_used: null,
  },
  { ...nightly, id: 3, name: 'laptop', expires_at: minutesAgo(2 * day), last_used: minutesAgo(3 * day) },
]
const created = { ...nightly, id: 8, token: 'berth_q0v1Kq5m2uVb5l0mZr3yT8cX7wHn4sJd9fGa6eBo1kQ', last_used: null }
const page = { path: '/tokens', answers: { me: ann, listApiTokens: { tokens } } }
const create = ['Name = Backup', 'Create the token'] as const

const own: readonly Story[] = [
  { name: 'tokens/many', ...page },
  { name: 'tokens/none', ...page, answers: { me: ann, listApiTokens: { tokens: [] } } },
  {
    name: 'tokens/administrator',
    ...page,
    boot: { is_admin: true },
    answers: { me: ada, listApiTokens: { tokens: [] } },
  },
  { name: 'tokens/created', ...page, answers: { ...page.answers, createApiToken: created }, press: create },
  {
    name: 'tokens/name-missing',
    ...page,
    answers: { me: ann, listApiTokens: { tokens: [] } },
    press: ['Create the token'],
  },
  {
    name: 'tokens/refused',
    ...page,
    answers: {
      me: ann,
      listApiTokens: { tokens: [] },
      createApiToken: new Refused(409, 'You have 100 API tokens already, as many as you may. Remove one first.'),
    },
    press: create,
  },
  { name: 'tokens/remove', ...page, press: ['RemoveRemove the API token: Nightly tests'] },
  {
    name: 'tokens/takeover',
    ...page,
    boot: { acting: { by: 'ada@example.org', until: minutesAgo(-12) } },
  },
  { name: 'tokens/loading', ...page, answers: { me: ann, listApiTokens: never } },
]

const all: AdminApiToken[] = tokens.map((token, at) => ({
  ...token,
  scopes: at === 0 ? ['admin:write'] : [...token.scopes],
  user: at === 0 ? { id: 1, email: 'ada@example.org' } : { id: 12, email: 'ann@example.org' },
}))
const admin = {
  path: '/admin/tokens',
  boot: { is_admin: true, email: 'ada@example.org' },
  answers: { me: ada, listAllApiTokens: { tokens: all, next_cursor: '3' } },
}

const administration: readonly Story[] = [
  { name: 'admin-tokens/many', ...admin },
  {
    name: 'admin-tokens/none-of-user',
    ...admin,
    path: '/admin/tokens?user=max%40example.org',
    answers: { me: ada, listAllApiTokens: { tokens: [], next_cursor: null } },
  },
  {
    name: 'admin-tokens/remove',
    ...admin,
    press: ['RemoveRemove the API token Nightly tests of ada@example.org'],
  },
]

/** API tokens: one's own, and those of all users. */
export const apiTokenStories: readonly Story[] = [...own, ...administration]
