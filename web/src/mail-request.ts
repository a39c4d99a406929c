import type { Client } from '@berth/api/client.ts'
import { pages } from '#/paths.ts'

/** The three ways to ask for a mail, and what `/check-mail` needs to ask for it again. */
export const mailKinds = {
  login: { send: (api: Client, email: string) => api.logIn({ body: { email } }), askedAt: pages.login },
  signup: { send: (api: Client, email: string) => api.signUp({ body: { email } }), askedAt: pages.signUp },
  verification: {
    send: (api: Client, email: string) => api.resendVerification({ body: { email } }),
    askedAt: pages.signUp,
  },
} as const

export type MailKind = keyof typeof mailKinds

/** A mail that was asked for. Travels in the history entry, because an address does not belong into a URL or a log. */
export interface MailRequest {
  readonly kind: MailKind
  readonly email: string
}

/** What a page left in the history entry, or undefined when it was something else or nothing. */
export function mailRequestIn(state: unknown): MailRequest | undefined {
  if (typeof state !== 'object' || state === null || !('kind' in state) || !('email' in state)) return undefined
  const { kind, email } = state
  if (typeof kind !== 'string' || typeof email !== 'string' || !Object.hasOwn(mailKinds, kind)) return undefined
  return { kind: kind as MailKind, email }
}
