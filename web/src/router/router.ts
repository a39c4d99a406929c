import { useEffect, useState, useSyncExternalStore } from 'react'
import { openedLinkParameter, pages } from '#/paths.ts'

/** The browser's location, as pages need it. */
interface PageLocation {
  readonly path: string
  readonly query: URLSearchParams
  /** State that an earlier page left in this history entry; survives a reload and never appears in the URL. */
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

/**
 * Navigates to another page of the front end without loading a document. `state` must be cloneable and hold nothing
 * secret.
 */
export function navigate(to: string, state: unknown = null): void {
  history.pushState(state, '', to)
  scrollTo(0, 0)
  notify()
}

/** Does what `navigate` does, but replaces the history entry: for pages that act as soon as they open. */
export function navigateReplacing(to: string, state: unknown = null): void {
  history.replaceState(state, '', to)
  scrollTo(0, 0)
  notify()
}

/** The current location; the component renders again when it changes. */
export function useLocation(): PageLocation {
  return useSyncExternalStore(subscribe, () => current)
}

/**
 * Keeps the secret of the link that the document was opened by in the history entry, so that a reload of the page still
 * works, and removes what is left of it from the address. The server has taken it out of the address before, except
 * where browsers do not send that a user navigates (plain http): there it is removed before anything else runs, so that
 * it is not read from the screen, copied with the URL, or sent as a referrer.
 */
export function keepLinkSecret(secret: string | null): void {
  const query = new URLSearchParams(location.search)
  const token = secret ?? query.get('token') ?? tokenBehindHash()
  if (token === null) return
  query.delete('token')
  query.delete(openedLinkParameter)
  const rest = query.size > 0 ? `?${query}` : ''
  history.replaceState({ token }, '', location.pathname + rest)
  current = read()
}

/**
 * Links to archives of earlier mails have the token behind the #, where no server sees it: the page is opened
 * again, by an address from which the server takes it. @returns whether the document is being left
 */
export function leaveTokenBehindHash(): boolean {
  const token = tokenBehindHash()
  // On plain http the server leaves the address as it is.
  if (token === null || location.pathname !== pages.archive || !isSecureContext) return false
  location.replace(`${pages.archive}?${new URLSearchParams({ token })}`)
  return true
}

const tokenBehindHash = () => new URLSearchParams(location.hash.slice(1)).get('token')

/** The token that `keepLinkSecret` kept in this history entry, if any. */
export function tokenIn(state: unknown): string | undefined {
  const hasToken = typeof state === 'object' && state !== null && 'token' in state && typeof state.token === 'string'
  return hasToken && state.token !== '' ? (state.token as string) : undefined
}

/**
 * Writes values of the page's query into its address, so that a reload finds them; empty ones are removed. The page
 * stays as it is: nothing is rendered again, and nothing scrolls.
 */
export function rewriteQuery(values: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name)
    else query.set(name, value)
  }
  const search = query.size > 0 ? `?${query}` : ''
  if (search !== location.search) history.replaceState(history.state, '', location.pathname + search + location.hash)
}

/** Replaces the state of this history entry. It must be cloneable and hold nothing secret. */
export function replaceHistoryState(state: unknown): void {
  history.replaceState(state, '')
  notify()
}

/** Removes the state of this history entry, such as a used token or a notice that was shown. Renders nothing again. */
export function clearHistoryState(): void {
  history.replaceState(null, '')
}

/** A sentence that one page leaves for the next, in the history entry. */
export interface Notice {
  readonly notice: string
}

/** The notice that the previous page left for this one. It is shown once: after a reload it is gone. */
export function useNotice(): string | undefined {
  const { state } = useLocation()
  const [notice] = useState(() => noticeIn(state))
  useEffect(() => {
    if (notice !== undefined) clearHistoryState()
  }, [notice])
  return notice
}

function noticeIn(state: unknown): string | undefined {
  const hasNotice = typeof state === 'object' && state !== null && 'notice' in state && typeof state.notice === 'string'
  return hasNotice ? (state as Notice).notice : undefined
}

/**
 * Moves the focus to the heading of the page.
 * @param unlessInMain keeps a focus that the page has set inside `main`, such as on its only field
 * @param preventScroll the page stays where it is, for users without a keyboard
 */
export function focusHeading({ unlessInMain = false, preventScroll = false } = {}): void {
  const hasFocus = unlessInMain && document.querySelector('main')?.contains(document.activeElement)
  if (!hasFocus) document.querySelector('h1')?.focus({ preventScroll })
}
