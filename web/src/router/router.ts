import { useSyncExternalStore } from 'react'

/** Where the browser is, as pages need it. */
export interface PageLocation {
  readonly path: string
  readonly query: URLSearchParams
  /** What an earlier page left in this history entry; survives a reload, never appears in the address. */
  readonly state: unknown
}

let current = read()
const listeners = new Set<() => void>()

function read(): PageLocation {
  return { path: location.pathname, query: new URLSearchParams(location.search), state: history.state as unknown }
}

function notify(): void {
  current = read()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

addEventListener('popstate', notify)

/** Goes to another page of the front end without loading a document. `state` must be cloneable and hold nothing secret. */
export function navigate(to: string, state: unknown = null): void {
  history.pushState(state, '', to)
  scrollTo(0, 0)
  notify()
}

/** As `go`, but the way back does not lead to the page that is left: for pages that do something as soon as they open. */
export function navigateReplacing(to: string, state: unknown = null): void {
  history.replaceState(state, '', to)
  scrollTo(0, 0)
  notify()
}

/** The current place; the component renders again when it changes. */
export function useLocation(): PageLocation {
  return useSyncExternalStore(subscribe, () => current)
}

/**
 * Takes the one-time token out of the address bar before anything else runs, so that it is not read over a shoulder,
 * copied with the address, or sent along as a referrer. The history entry keeps it: a reload of the page still works.
 */
export function hideTokenFromUrl(): void {
  const query = new URLSearchParams(location.search)
  const token = query.get('token')
  if (token === null) return
  query.delete('token')
  const rest = query.size > 0 ? `?${query}` : ''
  history.replaceState({ token }, '', location.pathname + rest)
  current = read()
}

/** The token that `hideToken` kept in this history entry, if there is one. */
export function tokenIn(state: unknown): string | undefined {
  const hasToken = typeof state === 'object' && state !== null && 'token' in state && typeof state.token === 'string'
  return hasToken && state.token !== '' ? (state.token as string) : undefined
}

/** Puts something else into this history entry. It must be cloneable and hold nothing secret. */
export function replaceHistoryState(state: unknown): void {
  history.replaceState(state, '')
  notify()
}

/** Forgets what this history entry keeps: a token that is of no use any more, or words that were read. */
export function clearHistoryState(): void {
  history.replaceState(null, '')
}
