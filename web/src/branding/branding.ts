import { languages, type BrandingData, type Notice } from '@berth/api/boot.ts'

/** How the installation presents itself; what is null keeps Berth's own look. */
export interface Branding {
  readonly name: string | null
  /** Path of the image. */
  readonly logo: string | null
  /** Addresses of the legal texts. */
  readonly imprint: string | null
  readonly privacy: string | null
  readonly notices: readonly Notice[]
}

/** Name of the product in the messages. */
const productName = 'Berth'

/** Parses what the boot data says. @returns null where it says nothing */
export function parseBranding(value: unknown): Branding | null {
  if (typeof value !== 'object' || value === null) return null
  const { name, logo, imprint, privacy, notices } = value as { readonly [K in keyof BrandingData]?: unknown }
  const listed: readonly unknown[] = Array.isArray(notices) ? notices : []
  return {
    name: textIn(name),
    logo: pathIn(logo),
    imprint: addressIn(imprint),
    privacy: addressIn(privacy),
    notices: listed.flatMap(noticeIn),
  }
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : null)
const pathIn = (value: unknown) => (typeof value === 'string' && /^\/(?!\/)/.test(value) ? value : null)
/** A path of ours, or a web address: a link never runs a script. */
const addressIn = (value: unknown) =>
  pathIn(value) ?? (typeof value === 'string' && /^https?:\/\//i.test(value) ? value : null)

function noticeIn(value: unknown): Notice[] {
  const { text, from, until } = Object(value) as { text?: unknown; from?: unknown; until?: unknown }
  const texts = Object(text) as Record<string, unknown>
  if (languages.some((language) => typeof texts[language] !== 'string')) return []
  return [{ text: texts as unknown as Notice['text'], from: textIn(from), until: textIn(until) }]
}

/** Notices whose time it is. @param now by the server's clock, in ms since 1970 */
export function currentNotices({ notices }: Branding, now: number): readonly Notice[] {
  return notices.filter(
    ({ from, until }) => (from === null || Date.parse(from) <= now) && (until === null || Date.parse(until) > now),
  )
}

/** The messages with the name of the installation in place of the product's. The parts of a parsed message are text, too. */
export function withProductName<T>(messages: T, name: string | null): T {
  return name === null ? messages : (renamed(messages, name) as T)
}

function renamed(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value.replaceAll(productName, name)
  if (Array.isArray(value)) return value.map((each) => renamed(each, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, renamed(each, name)]))
}
