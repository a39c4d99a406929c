import assert from 'node:assert/strict'
import { assertOk } from './api-calls.ts'
import { tokenIn, type EnginelessBerth } from './berth-without-engine.ts'
import type { Reply } from './berth.ts'

/** Host of the API and the pages, by which cookies are set. */
export const host = 'spawner.berth.localhost'

/** A plain client, which keeps the two cookies. */
export interface SessionClient {
  readonly token: string
  readonly cookie: string
  readonly id: number
}

/** Signs in by a mailed link, and up where the address is new. */
export async function signIn(berth: EnginelessBerth, email: string): Promise<SessionClient> {
  const token = await mailedToken(berth, email)
  const path = token.isNew ? 'verify-signup' : 'verify-login'
  const reply = await berth.call('GET', `/api/auth/${path}?token=${token.value}`, { headers: { host } })
  assertOk(reply)
  return { token: reply.body.access_token, cookie: setCookie(reply) ?? '', id: reply.body.user.id }
}

/** Asks for a link, and reads the mail. */
export async function mailedToken(berth: EnginelessBerth, email: string): Promise<{ value: string; isNew: boolean }> {
  assertOk(await berth.call('POST', '/api/auth/link', { body: { email } }))
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  return { value: tokenIn(mail), isNew: mail.text.includes('verify-signup') }
}

/** The value that an answer sets a cookie to. */
export const setCookie = (reply: Reply, name = 'berth_session'): string | undefined =>
  reply.headers
    .getSetCookie()
    .map((line) => new RegExp(`^${name}=([^;]*)`).exec(line)?.[1])
    .find((value) => value !== undefined)

/** Renews a session by its cookie, or by these headers. */
export const refresh = (berth: EnginelessBerth, cookie: string, headers: Record<string, string> = {}): Promise<Reply> =>
  berth.call('POST', '/api/auth/refresh', { headers: { host, cookie: `berth_session=${cookie}`, ...headers } })
