import { rememberEndedSession } from '#/session/ended-session.ts'
import { pages, withNext } from '#/paths.ts'

/** The session of this document is being ended, or was, and the page goes on from there to a place of its own. */
let isEnding = false

/** Whether another navigation must wait: of two the later one counts, wherever the first was to lead. */
export const isRedirecting = () => isEnding

/** Who is signed in on this document, as far as it knows. */
let email: string | undefined

/** So that nobody has to type their address again when the sign-in ends. */
export const rememberEmail = (known: string) => void (email = known)

/**
 * To the login by a real navigation, so that the server tells the next document that nobody is signed in. That page says why
 * one is there, has the address, and leads back. Not while the session is ended on purpose: see `endAndGo`.
 * @param next where to go on to afterwards: this very page, where nothing else is said
 * @param hasEnded a sign-in was there, and is over
 */
export function redirectToLogin(next = location.pathname + location.search, hasEnded = true): void {
  if (isEnding) return
  if (hasEnded) rememberEndedSession({ email })
  location.replace(withNext(pages.login, next))
}

/**
 * Ends the session of this document, and goes on to where that leads. Whatever else the page asks for meanwhile is answered
 * as to somebody who is signed out, and would lead to the login.
 * @param end ends the session @throws what it throws; then the page stays, and may be led away again
 */
export async function endSessionAndRedirect(end: () => Promise<unknown>, to: string): Promise<void> {
  isEnding = true
  try {
    await end()
  } catch (error) {
    isEnding = false
    throw error
  }
  location.replace(to)
}
