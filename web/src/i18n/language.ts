import { useSyncExternalStore } from 'react'
import { languageCookie, languages, type Language } from '@berth/api/boot.ts'
import { boot } from '#/api/api-client.ts'

/** Seconds that a choice is kept. Browsers keep no cookie for more than 400 days. */
const cookieMaxAge = 400 * 86_400

let current: Language = boot.language
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The language of this page: the one that was chosen here, else what the server made of the browser's languages. */
export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, () => current)
}

/**
 * Shows everything in this language from now on. The choice is a cookie, because the server writes mails, refusals and the
 * pages of the gateway in it, too; the container's pages may read and set it, and it holds nothing that they must not.
 */
export function chooseLanguage(language: Language): void {
  const isSecure = location.protocol === 'https:'
  document.cookie = `${languageCookie}=${language}; Path=/; Max-Age=${cookieMaxAge}; SameSite=Lax${isSecure ? '; Secure' : ''}`
  document.documentElement.lang = language
  current = language
  for (const listener of listeners) listener()
}

export const isLanguage = (value: unknown): value is Language => languages.some((language) => language === value)
