import { continuePath } from '#/session/known-session.ts'
import { rememberEndedSession } from '#/session/ended-session.ts'
import { sessionChannel } from '#/session/session-channel.ts'
import { pages, withNext } from '#/paths.ts'

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
 * Ends the session of this document, tells the other tabs, then navigates to `to`. Other requests of the page are answered as signed out
 * meanwhile, and would redirect to the login.
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
