import { ApiError } from '@berth/api/client.ts'
import type { LinksLeft } from '@berth/api/links-left.ts'

/** A requested mail. Kept in the history entry, because an address does not belong into a URL or a log. */
export interface MagicLinkRequest {
  readonly email: string
  /** In ms since 1970. */
  readonly at: number
  /** From the response's headers; undefined when they do not say. */
  readonly links: LinksLeft | undefined
}

/** Seconds before the same mail can be requested again; a real mail needs about as long. */
const resendDelay = 30

/** The request in a history entry, or undefined when it holds something else or nothing. */
export function magicLinkRequestIn(state: unknown): MagicLinkRequest | undefined {
  const email = emailIn(state)
  if (email === undefined) return undefined
  const { at, links } = state as { at?: unknown; links?: unknown }
  return { email, at: typeof at === 'number' ? at : 0, links: linksIn(links) }
}

/** The address in a history entry, so that it need not be typed again. */
export function emailIn(state: unknown): string | undefined {
  const hasEmail = typeof state === 'object' && state !== null && 'email' in state && typeof state.email === 'string'
  return hasEmail ? (state.email as string) : undefined
}

function linksIn(value: unknown): LinksLeft | undefined {
  if (typeof value !== 'object' || value === null || !('left' in value) || !('reset' in value)) return undefined
  const { left, reset } = value
  return typeof left === 'number' && typeof reset === 'number' ? { left, reset } : undefined
}

/**
 * Whole seconds until another request makes sense: the resend delay, or the rest of the hour without links left.
 * @param now in ms since 1970
 */
export function secondsToWait({ at, links }: MagicLinkRequest, now: number): number {
  const needed = links?.left === 0 ? Math.max(resendDelay, links.reset) : resendDelay
  const left = Math.ceil((at + needed * 1000 - now) / 1000)
  // A clock that was set back must not extend the wait.
  return Math.min(needed, Math.max(0, left))
}

/** How many links are left now; undefined when unknown or outdated. */
export function linksLeftAt({ at, links }: MagicLinkRequest, now: number): number | undefined {
  return links !== undefined && now < at + links.reset * 1000 ? links.left : undefined
}

/** Why a link was refused, as a key of `signIn.refused`. */
export type MagicLinkRefusal = 'expired' | 'used' | 'otherKind' | 'invalid' | 'incomplete' | 'unverified' | 'blocked'

/** By the names of the server's refusals, `docs/reference/errors.md`. */
const byName: Readonly<Record<string, MagicLinkRefusal>> = {
  expiredToken: 'expired',
  usedToken: 'used',
  otherToken: 'otherKind',
  badToken: 'invalid',
  missingToken: 'incomplete',
  notVerified: 'unverified',
  userBlocked: 'blocked',
}

/**
 * Maps an error of the verify endpoints to the refusal of the link; undefined when the error is not about the link, so
 * that a retry may help. A refusal whose name is missing or unknown is mapped by its status, so that each one offers a
 * new link.
 */
export function magicLinkRefusalIn(error: unknown): MagicLinkRefusal | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { refusal = '', status } = error
  if (Object.hasOwn(byName, refusal)) return byName[refusal]
  if (status === 403) return 'unverified'
  return status === 400 ? 'invalid' : undefined
}
