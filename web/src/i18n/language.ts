import { useSyncExternalStore } from 'react'
import { languageCookie, languages, type Language } from '@berth/api/boot.ts'
import { boot } from '#/api/api-client.ts'

/** Lifetime of the choice in seconds. Browsers keep no cookie for more than 400 days. */
const cookieMaxAge = 400 * 86_400

let current: Language = boot.language
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * The language of this page: the one chosen here, else the one that the server derived from the browser's languages.
 */
export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, () => current)
}

/**
 * Shows everything in this language from now on. The choice is a cookie, because the server uses it for mails, refusals
 * and the gateway's pages; pages of containers may read and set it, and it holds no secret.
 */
export function chooseLanguage(language: Language): void {
  const isSecure = location.protocol === 'https:'
  document.cookie = `${languageCookie}=${language}; Path=/; Max-Age=${cookieMaxAge}; SameSite=Lax${isSecure ? '; Secure' : ''}`
  document.documentElement.lang = language
  current = language
  for (const listener of listeners) listener()
}

export const isLanguage = (value: unknown): value is Language => languages.some((language) => language === value)
