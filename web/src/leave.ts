import { pages, withNext } from '#/paths.ts'

/**
 * To the login by a real navigation, so that the server tells the next document that nobody is signed in.
 * @param next where to go on to afterwards
 */
export function leave(next?: string): void {
  location.replace(withNext(pages.login, next))
}
