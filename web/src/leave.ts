import { pages, withNext } from '#/paths.ts'

/** The session of this document is being ended, or was, and the page goes on from there to a place of its own. */
let isEnding = false

/** Whether another navigation must wait: of two the later one counts, wherever the first was to lead. */
export const isLeaving = () => isEnding

/**
 * To the login by a real navigation, so that the server tells the next document that nobody is signed in. Not while the
 * session is ended on purpose: see `endAndGo`.
 * @param next where to go on to afterwards
 */
export function leave(next?: string): void {
  if (!isEnding) location.replace(withNext(pages.login, next))
}

/**
 * Ends the session of this document, and goes on to where that leads. Whatever else the page asks for meanwhile is answered
 * as to somebody who is signed out, and would lead to the login.
 * @param end ends the session @throws what it throws; then the page stays, and may be led away again
 */
export async function endAndGo(end: () => Promise<unknown>, to: string): Promise<void> {
  isEnding = true
  try {
    await end()
  } catch (error) {
    isEnding = false
    throw error
  }
  location.replace(to)
}
