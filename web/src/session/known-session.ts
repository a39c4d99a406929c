import { isPage, publicPages, signInPages } from '#/paths.ts'
import { safeNext } from '#/safe-next.ts'

/** The parts of web storage that this module uses. */
type KnownSessionStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const [key, attemptKey] = ['berth.signedIn', 'berth.continued']
/** Between two attempts of one tab, in ms: a browser that drops the cookie must not be led in a circle. */
const minPause = 10_000

/**
 * Remembers that a user is signed in in this browser, whose session may outlast its token. Pages of containers share the
 * storage: it holds no address, and what it says is only tried.
 */
export function rememberKnownSession(storage?: KnownSessionStorage): void {
  quietly(() => (storage ?? localStorage).setItem(key, '1'))
}

/** The user signed out. */
export function forgetKnownSession(storage?: KnownSessionStorage): void {
  quietly(() => (storage ?? localStorage).removeItem(key))
}

/** Address at which the server goes on with the session of this browser, and leads back to `path`, or to the login page. */
export function continuePath(path: string): string {
  const next = safeNext(path)
  return `/api/auth/continue${next === undefined ? '' : `?${new URLSearchParams({ next })}`}`
}

/** Whether a document without a token tries to go on with a session: once, and not where users sign in. */
export function mayContinue(
  path: string,
  local?: KnownSessionStorage,
  tab?: KnownSessionStorage,
  now = Date.now(),
): boolean {
  if (!isPage(path) || [...signInPages, ...publicPages].includes(path) || !isKnown(local)) return false
  return (
    quietly(() => {
      const last = Number((tab ?? sessionStorage).getItem(attemptKey))
      if (Math.abs(now - last) < minPause) return false
      ;(tab ?? sessionStorage).setItem(attemptKey, String(now))
      return true
    }) ?? false
  )
}

const isKnown = (storage?: KnownSessionStorage) =>
  typeof quietly(() => (storage ?? localStorage).getItem(key)) === 'string'

/** Storage may be disabled or full: then the sign-in page appears. */
function quietly<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
