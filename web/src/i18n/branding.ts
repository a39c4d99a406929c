import type { BrandingData, Notice } from '@berth/api/boot.ts'

/** Name of the product in the messages. */
const productName = 'Berth'

/** Parses what the boot data says; the server has checked its addresses. @returns null where it says nothing */
export const parseBranding = (value: unknown): BrandingData | null =>
  value instanceof Object && 'notices' in value ? (value as BrandingData) : null

/** Notices whose time it is. @param now by the server's clock, in ms since 1970 */
export function currentNotices({ notices }: BrandingData, now: number): readonly Notice[] {
  return notices.filter(
    ({ from, until }) => (from === null || Date.parse(from) <= now) && (until === null || Date.parse(until) > now),
  )
}

/**
 * The messages with the name of the installation in place of the product's. The parts of a parsed message are text,
 * too.
 */
export function withProductName<T>(messages: T, name: string | null): T {
  return name === null ? messages : (renamed(messages, name) as T)
}

function renamed(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value.replaceAll(productName, name)
  if (Array.isArray(value)) return value.map((each) => renamed(each, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, renamed(each, name)]))
}
