import { safeNext } from '#/safe-next.ts'
import { withStorage, type WebStorage } from '#/session/web-storage.ts'

const key = 'berth.next'
/** In ms. A user who signs in tomorrow does not expect yesterday's page. */
const maxAge = 60 * 60 * 1000

/**
 * Stores the path to return to while the user opens the mail. The link opens in a new tab, so this needs storage that
 * tabs share; a path is no secret. Removes an older path when there is no new one.
 */
export function rememberReturnPath(next: string | undefined, storage?: WebStorage, now = Date.now()): void {
  withStorage(() => {
    const tabs = storage ?? localStorage
    if (next === undefined) tabs.removeItem(key)
    else tabs.setItem(key, JSON.stringify({ path: next, at: now }))
  })
}

/** The stored path, checked again because every page of this origin can write to storage; undefined after one hour. */
export function recallReturnPath(storage?: WebStorage, now = Date.now()): string | undefined {
  return withStorage(() => {
    const value: unknown = JSON.parse((storage ?? localStorage).getItem(key) ?? 'null')
    if (typeof value !== 'object' || value === null || !('path' in value) || !('at' in value)) return undefined
    const age = typeof value.at === 'number' ? now - value.at : NaN
    return age >= 0 && age < maxAge ? safeNext(value.path) : undefined
  })
}

/** Returns what `recallReturnPath` returns, and removes the path. */
export function takeReturnPath(storage?: WebStorage, now = Date.now()): string | undefined {
  const next = recallReturnPath(storage, now)
  withStorage(() => (storage ?? localStorage).removeItem(key))
  return next
}
