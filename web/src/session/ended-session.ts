/** The part of web storage that this module uses. */
type EndedSessionStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** A sign-in that ended while the user worked in this tab. */
export interface EndedSession {
  /** Who was signed in; undefined when the page did not know yet. */
  readonly email: string | undefined
  /** Name of the refusal that says why; undefined when it is unknown. */
  readonly why?: string | undefined
}

const key = 'berth.ended'
/** In ms. The next day's sign-in starts without this notice. */
const maxAge = 60 * 60 * 1000

/**
 * Remembers in this tab alone that its sign-in has ended, for the sign-in page. A container's page shares our origin
 * and could write here, too: the address is only put into a field, and does not count as typed by the user.
 */
export function rememberEndedSession(
  { email, why }: EndedSession,
  storage?: EndedSessionStorage,
  now = Date.now(),
): void {
  quietly(() => (storage ?? sessionStorage).setItem(key, JSON.stringify({ email, why, at: now })))
}

/** What `rememberEndedSession` stored within the last hour; undefined when there is nothing, or invalid data. */
export function endedSession(storage?: EndedSessionStorage, now = Date.now()): EndedSession | undefined {
  return quietly(() => {
    const value: unknown = JSON.parse((storage ?? sessionStorage).getItem(key) ?? 'null')
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
export function forgetEndedSession(storage?: EndedSessionStorage): void {
  quietly(() => (storage ?? sessionStorage).removeItem(key))
}

/** Storage may be disabled or full: then the sign-in page gives no reason. */
function quietly<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
