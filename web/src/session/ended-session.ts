/** The part of web storage that is used here. */
type EndedSessionStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** That a sign-in ended while somebody was at work in this tab. */
export interface EndedSession {
  /** Who was signed in; undefined when the page did not know yet. */
  readonly email: string | undefined
}

const key = 'berth.ended'
/** Milliseconds for which that is said: who comes back tomorrow begins anew. */
const maxAge = 60 * 60 * 1000

/**
 * Remembers in this tab alone that its sign-in has ended, for the page that asks to sign in again. A container's page, which
 * shares our origin, could write here, too: the address is only put into a field, as one that nobody has typed.
 */
export function rememberEndedSession({ email }: EndedSession, storage?: EndedSessionStorage, now = Date.now()): void {
  quietly(() => (storage ?? sessionStorage).setItem(key, JSON.stringify({ email, at: now })))
}

/** What `noteEnded` remembered within the last hour; undefined when that was nothing, or rubbish. */
export function endedSession(storage?: EndedSessionStorage, now = Date.now()): EndedSession | undefined {
  return quietly(() => {
    const value: unknown = JSON.parse((storage ?? sessionStorage).getItem(key) ?? 'null')
    if (typeof value !== 'object' || value === null || !('at' in value) || typeof value.at !== 'number')
      return undefined
    const age = now - value.at
    if (!(age >= 0 && age < maxAge)) return undefined
    return { email: 'email' in value && typeof value.email === 'string' ? value.email.slice(0, 254) : undefined }
  })
}

/** Somebody is signed in again. */
export function forgetEndedSession(storage?: EndedSessionStorage): void {
  quietly(() => (storage ?? sessionStorage).removeItem(key))
}

/** Storage may be switched off, or full: then the page asks to sign in without a reason. */
function quietly<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
