import type { LinksLeft } from '@berth/api/links-left.ts'

/** A mail that was asked for. Travels in the history entry, because an address does not belong into a URL or a log. */
export interface MagicLinkRequest {
  readonly email: string
  /** ms since 1970. */
  readonly at: number
  /** As the answer said; undefined when it said nothing. */
  readonly links: LinksLeft | undefined
}

/** Seconds before the same mail can be asked for again; an honest mail needs about as long. */
const resendDelay = 30

/** What a page left in the history entry, or undefined when it was something else or nothing. */
export function magicLinkRequestIn(state: unknown): MagicLinkRequest | undefined {
  const email = emailIn(state)
  if (email === undefined) return undefined
  const { at, links } = state as { at?: unknown; links?: unknown }
  return { email, at: typeof at === 'number' ? at : 0, links: linksIn(links) }
}

/** The address that a page left in the history entry, to be typed no second time. */
export function emailIn(state: unknown): string | undefined {
  const hasEmail = typeof state === 'object' && state !== null && 'email' in state && typeof state.email === 'string'
  return hasEmail ? (state.email as string) : undefined
}

function linksIn(value: unknown): LinksLeft | undefined {
  if (typeof value !== 'object' || value === null || !('left' in value) || !('reset' in value)) return undefined
  const { left, reset } = value
  return typeof left === 'number' && typeof reset === 'number' ? { left, reset } : undefined
}

/** Whole seconds until it makes sense to ask again: a pause, or the rest of the hour when no link is left. @param now ms since 1970 */
export function secondsToWait({ at, links }: MagicLinkRequest, now: number): number {
  const needed = links?.left === 0 ? Math.max(resendDelay, links.reset) : resendDelay
  const left = Math.ceil((at + needed * 1000 - now) / 1000)
  // A clock that was set back must not make anybody wait for ever.
  return Math.min(needed, Math.max(0, left))
}

/** How many more links there are now; undefined when that is not known, or not any more. */
export function linksLeftAt({ at, links }: MagicLinkRequest, now: number): number | undefined {
  return links !== undefined && now < at + links.reset * 1000 ? links.left : undefined
}
