import assert from 'node:assert/strict'
import type { EnginelessBerth } from '../../support/berth-without-engine.ts'
import type { Reply } from '../../support/berth.ts'
import type { Outcome, Purpose, Token } from './specification.ts'

/** Clocks, mail server and Berth of a walk. */
export interface World {
  readonly berth: EnginelessBerth
  /** Mails are refused while it is active. */
  readonly mailFault: { active: boolean }
  readonly clock: { set(by: number): void; pass(ms: number): void }
  /** How often each step was answered with each status, e.g. `log in 429`. */
  readonly answers: Map<string, number>
}

/** One unit of time, in ms. No sum of units comes near a lifetime: those are 900 and 3,600 s, and the walk takes some itself. */
export const unit = 420_000

export const paths = {
  me: '/api/user/me',
  containers: '/api/user/containers',
  status: '/api/container/status',
  users: '/api/admin/users',
}

/** From the newest on, and again from there. */
export const nth = <T>(all: readonly T[], index: number): T | undefined =>
  all.at(-1 - (index % Math.max(1, all.length)))

export const withToken = (token: Token | undefined) => (token ? { token: token.token } : {})

export function purposeIn(text: string): Purpose {
  return /\/verify-signup\?/.test(text) ? 'signup' : 'login'
}

export function answered(reply: Reply, { status }: Outcome): void {
  assert.equal(reply.status, status, reply.text)
  if (status !== 200 && reply.text !== '') assert.deepEqual(Object.keys(reply.body), ['error'])
}
