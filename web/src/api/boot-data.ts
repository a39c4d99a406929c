import { parseBranding } from '#/i18n/branding.ts'
import { languages, type BootData, type BrandingData, type Language } from '@berth/api/boot.ts'

/** What the server knows about this navigation, sent inside the document; see `BootData`. */
export interface Boot {
  readonly csrf: string | null
  readonly visit: string | null
  readonly signedIn: boolean
  /** Seconds until the token expires, of a session that can be renewed; null otherwise. */
  readonly tokenLifetime: number | null
  readonly email: string | null
  readonly isAdmin: boolean
  /** Whether there is any group. */
  readonly hasGroups: boolean
  readonly sharing: BootData['sharing']
  /** Whether users make snapshots of their homes. */
  readonly hasSnapshots: boolean
  readonly hasGitLinks: boolean
  readonly hasSsh: boolean
  readonly hasEnvironments: boolean
  readonly hasContainerHosts: boolean
  readonly language: Language
  readonly contact: string | null
  /** Null: Berth's own look. */
  readonly branding: BrandingData | null
  readonly acting: BootData['acting']
  /** Token or code of the link that the document was opened by. */
  readonly linkSecret: string | null
  readonly askedHere: boolean
  /** How far the server's clock is ahead of this one, in ms, without the time that the document took to arrive. */
  readonly clockAhead: number
  /** In seconds. */
  readonly linkLifetime: number | null
  readonly signIn: SignInWays
}

/** How users sign in. */
interface SignInWays {
  readonly providers: readonly SignInProvider[]
  /** Whether a link is mailed to who asks. */
  readonly isByLink: boolean
}

export interface SignInProvider {
  readonly displayName: string
  /** URL that begins a sign-in there. */
  readonly start: string
}

/** What a document without boot data counts as. */
export const signedOut: Boot = {
  csrf: null,
  visit: null,
  signedIn: false,
  tokenLifetime: null,
  email: null,
  isAdmin: false,
  hasGroups: false,
  sharing: null,
  hasSnapshots: false,
  hasGitLinks: false,
  hasSsh: false,
  hasEnvironments: false,
  hasContainerHosts: false,
  language: 'en',
  contact: null,
  branding: null,
  acting: null,
  linkSecret: null,
  askedHere: false,
  clockAhead: 0,
  linkLifetime: null,
  signIn: { providers: [], isByLink: true },
}

/**
 * Parses the server's JSON. Invalid data, such as a placeholder that was not replaced, counts as signed out.
 * @param now of this machine, in ms since 1970
 */
export function parseBoot(text: string | null | undefined, now = Date.now()): Boot {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? bootFrom(value, now) : signedOut
  } catch {
    return signedOut
  }
}

function bootFrom(data: { readonly [K in keyof BootData]?: unknown }, now: number): Boot {
  return {
    csrf: textIn(data.csrf),
    visit: textIn(data.visit),
    signedIn: data.signed_in === true,
    tokenLifetime: typeof data.token_lifetime === 'number' && data.token_lifetime > 0 ? data.token_lifetime : null,
    email: textIn(data.email),
    isAdmin: data.is_admin === true,
    hasGroups: data.has_groups === true,
    sharing: sharingIn(data.sharing),
    hasSnapshots: data.has_snapshots === true,
    hasGitLinks: data.has_git_links === true,
    hasSsh: data.has_ssh === true,
    hasEnvironments: data.has_environments === true,
    hasContainerHosts: data.has_container_hosts === true,
    language: languages.find((language) => language === data.language) ?? signedOut.language,
    contact: textIn(data.contact),
    branding: parseBranding(data.branding),
    acting: actingIn(data.acting),
    linkSecret: textIn(data.link_secret),
    askedHere: data.asked_here === true,
    clockAhead: aheadOf(now, data.now),
    linkLifetime: typeof data.link_lifetime === 'number' && data.link_lifetime > 0 ? data.link_lifetime : null,
    signIn: waysIn(data.sign_in),
  }
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : null)

function aheadOf(now: number, there: unknown): number {
  const ahead = Date.parse(textIn(there) ?? '') - now
  return Number.isNaN(ahead) ? 0 : ahead
}

function actingIn(value: unknown): Boot['acting'] {
  if (typeof value !== 'object' || value === null || !('by' in value) || !('until' in value)) return null
  const { by, until } = value
  return typeof by === 'string' && typeof until === 'string' ? { by, until } : null
}

function sharingIn(value: unknown): Boot['sharing'] {
  if (typeof value !== 'object' || value === null) return null
  const { people, groups, max_seconds } = value as { people?: unknown; groups?: unknown; max_seconds?: unknown }
  if (typeof max_seconds !== 'number') return null
  return { people: people === true, groups: groups === true, max_seconds }
}

function waysIn(value: unknown): SignInWays {
  const { providers, email_link } = Object(value) as { providers?: unknown; email_link?: unknown }
  const listed: readonly unknown[] = Array.isArray(providers) ? providers : []
  return { providers: listed.flatMap(providerIn), isByLink: email_link !== false }
}

function providerIn(value: unknown): SignInProvider[] {
  const { display_name: displayName, start } = Object(value) as { display_name?: unknown; start?: unknown }
  return typeof displayName === 'string' && typeof start === 'string' ? [{ displayName, start }] : []
}

/** Reads the boot element once and removes it from the document, where other scripts and extensions could read it. */
export function takeBoot(page: Document): Boot {
  const element = page.getElementById('boot')
  element?.remove()
  return parseBoot(element?.textContent)
}
