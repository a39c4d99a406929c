import assert from 'node:assert/strict'
import type { AdminContainer } from '@berth/api/schemas/administration/admin.ts'
import type { Berth, Person, Reply } from './berth.ts'
import { waitLimit } from './extent.ts'

/** Short words for what nearly every test of the API asks. */

export type Purpose = 'signup' | 'login'

/** Asks for a link, as the front end's form does. */
export const ask = (berth: Berth, purpose: Purpose, email: unknown): Promise<Reply> =>
  berth.call('POST', `/api/auth/${purpose}`, { body: { email } })

/** Asks for a link and takes its token out of the mail. */
export async function tokenBy(berth: Berth, purpose: Purpose, email: string): Promise<string> {
  assertOk(await ask(berth, purpose, email))
  return berth.mail.tokenFor(email)
}

export const verify = (berth: Berth, purpose: Purpose, token: string): Promise<Reply> =>
  berth.call('GET', `/api/auth/verify-${purpose}?token=${token}`)

/** Signs in by a fresh login link. */
export async function logIn(berth: Berth, email: string): Promise<Reply> {
  return verify(berth, 'login', await tokenBy(berth, 'login', email))
}

export const mailsTo = (berth: Berth, email: string): number =>
  berth.mail.received.filter(({ envelopeTo }) => envelopeTo.includes(email)).length

export function assertOk(reply: Reply): void {
  assert.equal(reply.status, 200, reply.text)
}

/** The answer has this status and is `{error}` with a sentence, and with nothing else but the named keys. */
export function assertRefused(reply: Reply, status: number, extraKeys: readonly string[] = []): void {
  assert.equal(reply.status, status, reply.text)
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
  assert.deepEqual(Object.keys(reply.body).sort(), ['error', ...extraKeys].sort(), reply.text)
  assert.equal(typeof reply.body.error, 'string')
  assert.match(reply.body.error, /^\p{Lu}.{9,}/u, 'a refusal is a sentence')
}

/** The person as an administrator sees them. */
export async function seenBy(admin: Person, id: number): Promise<Reply['body']> {
  const listed = await admin.call('GET', '/api/admin/users')
  assertOk(listed)
  return listed.body.users.find((user: { id: number }) => user.id === id)
}

/** A person's container record, as an administrator sees it. */
export async function recordOf(admin: Person, id: number, type = 'dev'): Promise<AdminContainer> {
  const { containers } = await seenBy(admin, id)
  const record = containers.find((each: AdminContainer) => each.container_type === type)
  assert.ok(record, `user ${id} has no record of type ${type}`)
  return record
}

export const blockContainer = (admin: Person, id: number) => admin.call('POST', `/api/admin/containers/${id}/block`)
export const unblockContainer = (admin: Person, id: number) => admin.call('POST', `/api/admin/containers/${id}/unblock`)
export const blockUser = (admin: Person, id: number) => admin.call('POST', `/api/admin/users/${id}/block`)
export const unblockUser = (admin: Person, id: number) => admin.call('POST', `/api/admin/users/${id}/unblock`)

/** What the engine says of a container; undefined when it has none of this id. */
export const engineState = async (berth: Berth, id: string) => (await thrice(() => berth.runtime.inspectId(id)))?.state

/** Engine ids of everything this person has on the engine. */
export const onEngine = async (berth: Berth, userId: number) =>
  (await thrice(() => berth.runtime.list({ userId }))).map(({ id }) => id)

/** Asks a busy engine, which may not answer within the timeout of a question, up to three times. */
async function thrice<T>(question: () => Promise<T>): Promise<T> {
  return question().catch(question).catch(question)
}

/** ISO 8601, UTC, as `Date` prints it. */
export const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Looks until it is so, at most 30 s on two quick cores. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + waitLimit(30_000)
  while (!(await condition())) {
    assert.ok(performance.now() < limit, 'it did not happen in time')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export const deleteUser = (admin: Person, id: number, query = '') =>
  admin.call('DELETE', `/api/admin/users/${id}${query}`)
export const deleteContainer = (admin: Person, id: number, query = '') =>
  admin.call('DELETE', `/api/admin/containers/${id}${query}`)

export const promote = (admin: Person, id: number) => admin.call('POST', `/api/admin/users/${id}/promote`)
export const demote = (admin: Person, id: number) => admin.call('POST', `/api/admin/users/${id}/demote`)
