import { isPage, pages, publicPages, signInPages, withNext } from '#/paths.ts'
import { safeNext } from '#/safe-next.ts'
import { sessionChannel } from './session-channel.ts'
import { withStorage, type WebStorage } from './web-storage.ts'

/** The session of this document is ending or has ended, and the page navigates to its own target. */
let isEnding = false

/** What the document knows of its session; set once at its start. */
export const documentSession = {
  /** Whether only a navigation can renew it. */
  isContinuable: () => false,
  /** Why it is over, as the name of a refusal; undefined when it is not, or that is unknown. */
  ended: (): string | undefined => undefined,
}

/** Whether another navigation must wait: of two the later one wins. */
export const isRedirecting = () => isEnding

/** The address of the user of this document, if known. */
let email: string | undefined

/** Spares users typing their address again when the sign-in ends. */
export const rememberEmail = (known: string) => void (email = known)

/**
 * Redirects to the login by a real navigation, so that the server's next document knows that no user is signed in. The
 * login page gives the reason, fills in the address, and leads back. Does nothing while the session is being ended on
 * purpose: see `endSessionAndRedirect`.
 * @param next the page to return to: by default this one
 * @param hasEnded a sign-in existed and is over
 */
export function redirectToLogin(next = location.pathname + location.search, hasEnded = true): void {
  if (isEnding) return
  if (hasEnded) rememberEndedSession({ email, why: documentSession.ended() })
  location.replace(documentSession.isContinuable() ? continuePath(next) : withNext(pages.login, next))
}

/**
 * Ends the session of this document, tells the other tabs, then navigates to `to`. Other requests of the page are
 * answered as signed out meanwhile, and would redirect to the login.
 * @param end ends the session @throws what it throws; then the page stays, and may redirect again
 * @param to a function where the target is known only once the session has ended
 */
export async function endSessionAndRedirect(end: () => Promise<unknown>, to: string | (() => string)): Promise<void> {
  isEnding = true
  try {
    await end()
  } catch (error) {
    isEnding = false
    throw error
  }
  sessionChannel.announce()
  location.replace(typeof to === 'string' ? to : to())
}

/** A sign-in that ended while the user worked in this tab. */
interface EndedSession {
  /** Who was signed in; undefined when the page did not know yet. */
  readonly email: string | undefined
  /** Name of the refusal that says why; undefined when it is unknown. */
  readonly why?: string | undefined
}

const endedKey = 'berth.ended'
/** In ms. The next day's sign-in starts without this notice. */
const maxAge = 60 * 60 * 1000

/**
 * Remembers in this tab alone that its sign-in has ended, for the sign-in page. A container's page shares our origin
 * and could write here, too: the address is only put into a field, and does not count as typed by the user.
 */
export function rememberEndedSession({ email, why }: EndedSession, storage?: WebStorage, now = Date.now()): void {
  withStorage(() => (storage ?? sessionStorage).setItem(endedKey, JSON.stringify({ email, why, at: now })))
}

/** What `rememberEndedSession` stored within the last hour; undefined when there is nothing, or invalid data. */
export function endedSession(storage?: WebStorage, now = Date.now()): EndedSession | undefined {
  return withStorage(() => {
    const value: unknown = JSON.parse((storage ?? sessionStorage).getItem(endedKey) ?? 'null')
    if (typeof value !== 'object' || value === null || !('at' in value) || typeof value.at !== 'number')
      return undefined
    const age = now - value.at
    if (!(age >= 0 && age < maxAge)) return undefined
    return { email: textIn(value, 'email'), why: textIn(value, 'why') }
  })
}

function textIn(value: object, name: string): string | undefined {
  const text: unknown = (value as Record<string, unknown>)[name]
  return typeof text === 'string' ? text.slice(0, 254) : undefined
}

/** A user is signed in again. */
export function forgetEndedSession(storage?: WebStorage): void {
  withStorage(() => (storage ?? sessionStorage).removeItem(endedKey))
}

const [knownKey, attemptKey] = ['berth.signedIn', 'berth.continued']
/** Between two attempts of one tab, in ms: a browser that drops the cookie must not be led in a circle. */
const minPause = 10_000

/**
 * Remembers that a user is signed in in this browser, whose session may outlast its token. Pages of containers share
 * the storage: it holds no address, and what it says is only tried.
 */
export function rememberKnownSession(storage?: WebStorage): void {
  withStorage(() => (storage ?? localStorage).setItem(knownKey, '1'))
}

/** The user signed out. */
export function forgetKnownSession(storage?: WebStorage): void {
  withStorage(() => (storage ?? localStorage).removeItem(knownKey))
}

/**
 * Address at which the server goes on with the session of this browser, and leads back to `path`, or to the login page.
 */
export function continuePath(path: string): string {
  const next = safeNext(path)
  return `/api/auth/continue${next === undefined ? '' : `?${new URLSearchParams({ next })}`}`
}

/** Whether a document without a token tries to go on with a session: once, and not where users sign in. */
export function mayContinue(path: string, local?: WebStorage, tab?: WebStorage, now = Date.now()): boolean {
  if (!isPage(path) || [...signInPages, ...publicPages].includes(path) || !isKnown(local)) return false
  return (
    withStorage(() => {
      const last = Number((tab ?? sessionStorage).getItem(attemptKey))
      if (Math.abs(now - last) < minPause) return false
      ;(tab ?? sessionStorage).setItem(attemptKey, String(now))
      return true
    }) ?? false
  )
}

const isKnown = (storage?: WebStorage) =>
  typeof withStorage(() => (storage ?? localStorage).getItem(knownKey)) === 'string'
