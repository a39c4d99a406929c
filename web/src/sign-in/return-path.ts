import { safeNext } from '#/safe-next.ts'

/** The part of web storage that this module uses. */
export type ReturnPathStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const key = 'berth.next'
/** In ms. A user who signs in tomorrow does not expect yesterday's page. */
const maxAge = 60 * 60 * 1000

/**
 * Stores the path to return to while the user opens the mail. The link opens in a new tab, so this needs storage that
 * tabs share; a path is no secret. Removes an older path when there is no new one.
 */
export function rememberReturnPath(next: string | undefined, storage?: ReturnPathStorage, now = Date.now()): void {
  quietly(() => {
    const tabs = storage ?? localStorage
    if (next === undefined) tabs.removeItem(key)
    else tabs.setItem(key, JSON.stringify({ path: next, at: now }))
  })
}

/** The stored path, checked again because every page of this origin can write to storage; undefined after one hour. */
export function recallReturnPath(storage?: ReturnPathStorage, now = Date.now()): string | undefined {
  return quietly(() => {
    const value: unknown = JSON.parse((storage ?? localStorage).getItem(key) ?? 'null')
    if (typeof value !== 'object' || value === null || !('path' in value) || !('at' in value)) return undefined
    const age = typeof value.at === 'number' ? now - value.at : NaN
    return age >= 0 && age < maxAge ? safeNext(value.path) : undefined
  })
}

/** Returns what `recallReturnPath` returns, and removes the path. */
export function takeReturnPath(storage?: ReturnPathStorage, now = Date.now()): string | undefined {
  const next = recallReturnPath(storage, now)
  quietly(() => (storage ?? localStorage).removeItem(key))
  return next
}

/**
 * Storage may be disabled, which even its name in a default parameter throws for, full, or hold invalid data. The start
 * page is the fallback.
 */
function quietly<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
