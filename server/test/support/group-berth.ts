import assert from 'node:assert/strict'
import { assertOk } from './api-calls.ts'
import { startEnginelessBerth, tokenIn, type EnginelessBerth, type EnginelessOptions } from './berth-without-engine.ts'
import type { Lifetime, Reply } from './berth.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { FakeEngine } from './engine/fake-engine.ts'

/** A user with an account, and the way to ask with their token. */
export interface Signed {
  readonly id: number
  readonly email: string
  readonly token: string
  call(method: string, path: string, body?: object): Promise<Reply>
}

/** A Berth with a stand-in for the engine, and an administrator: what is tested is who may do what. */
export interface GroupBerth {
  readonly berth: EnginelessBerth
  readonly engine: FakeEngine
  readonly boss: Signed
  /** Signs up by a link. */
  signUp(email: string): Promise<Signed>
  /** Makes a group with these members and managers. */
  group(
    fields: { name: string } & Record<string, unknown>,
    members?: readonly Signed[],
    managers?: readonly Signed[],
  ): Promise<{ id: number; name: string }>
  launch(user: Signed, type?: string): Promise<Reply>
}

const template = (more: object = {}) => ({ image: 'nowhere:latest', port: 8080, memory: '512m', cpus: 0.5, ...more })

/** `dev`, `prod` and `lab` are for all users, `physics` for the group of this name, `science` for that or another one. */
export const groupTemplates = {
  dev: template(),
  prod: template({ memory: '1g', cpus: 1 }),
  lab: template(),
  physics: template({ display_name: 'Physics lab', groups: ['physics'] }),
  science: template({ groups: ['physics', 'chemistry'] }),
}

export interface GroupBerthOptions extends EnginelessOptions {
  /** Puts something between Berth and the stand-in for the engine. */
  readonly wrapRuntime?: (runtime: Runtime) => Runtime
}

export async function startGroupBerth(lifetime: Lifetime, options: GroupBerthOptions = {}): Promise<GroupBerth> {
  const engine = new FakeEngine()
  const runtime = options.wrapRuntime?.(engine.runtime) ?? engine.runtime
  const env = {
    CONTAINER_TEMPLATES: JSON.stringify(groupTemplates),
    ADMIN_EMAILS: 'boss@x.org',
    MAGIC_LINK_RATE_LIMIT: '1000',
    REQUESTS_PER_MINUTE: '0',
    ...options.env,
  }
  const berth = await startEnginelessBerth(lifetime, { runtime, ...options, env })
  const signUp = (email: string) => signUpAt(berth, email)
  const boss = await signUp('boss@x.org')
  const group: GroupBerth['group'] = async (fields, members = [], managers = []) => {
    const made = await boss.call('POST', '/api/admin/groups', fields)
    assertOk(made)
    const { id, name } = made.body.group
    const add = (users: readonly Signed[], role: string) =>
      boss.call('POST', `/api/groups/${id}/members`, { emails: users.map(({ email }) => email), role })
    if (members.length > 0) assertOk(await add(members, 'member'))
    if (managers.length > 0) assertOk(await add(managers, 'manager'))
    return { id, name }
  }
  const launch = (user: Signed, type = 'dev') => user.call('POST', `/api/container/launch/${type}`)
  return { berth, engine, boss, signUp, group, launch }
}

/** The account of the last link that was mailed to the address. */
export async function openLink(berth: EnginelessBerth, email: string, purpose: 'signup' | 'login'): Promise<Signed> {
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail, `no mail to ${email}`)
  const reply = await berth.call('GET', `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`)
  assertOk(reply)
  const { access_token: token, user } = reply.body
  const call: Signed['call'] = (method, path, body) => berth.call(method, path, { token, ...(body && { body }) })
  return { id: user.id, email, token, call }
}

/** Signs in once more, by a link. */
export async function signInAgain(berth: EnginelessBerth, { email }: Signed): Promise<Signed> {
  assertOk(await berth.call('POST', '/api/auth/login', { body: { email } }))
  return openLink(berth, email, 'login')
}

/** The same user, who asks with another token. */
const withToken = (berth: EnginelessBerth, user: Signed, token: string): Signed => ({
  ...user,
  token,
  call: (method, path, body) => berth.call(method, path, { token, ...(body && { body }) }),
})

/** An administrator who acts for a user. */
export async function takeOver(berth: EnginelessBerth, administrator: Signed, user: Signed): Promise<Signed> {
  const reply = await administrator.call('POST', `/api/admin/users/${user.id}/takeover`, { reason: 'to see' })
  assertOk(reply)
  return withToken(berth, user, reply.body.access_token)
}

/** The same user, who asks with an API token that may read and write containers. */
export async function tokenOf(berth: EnginelessBerth, user: Signed): Promise<Signed> {
  const scopes = ['containers:read', 'containers:write']
  const made = await user.call('POST', '/api/user/tokens', { name: 'x', scopes, expires_in: 600 })
  assertOk(made)
  return withToken(berth, user, made.body.token)
}

async function signUpAt(berth: EnginelessBerth, email: string): Promise<Signed> {
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email } }))
  return openLink(berth, email, 'signup')
}
