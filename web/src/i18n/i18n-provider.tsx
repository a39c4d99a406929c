import { useMemo, useSyncExternalStore, type ComponentType, type ReactNode } from 'react'
import { IntlProvider, useTranslations } from 'use-intl/react'
import { languageCookie, type Language } from '@berth/api/boot.ts'
import { boot } from '#/api/api-client.ts'
import { problemIn } from '#/api/errors.ts'
import { chunkParts } from '#/router/lazy-export.ts'
import { loadChunk } from '#/router/lazy-part.ts'
import { withProductName } from './branding.ts'
import { regionalLocale } from './regional-formats.ts'
import { inLanguage, type Texts } from './texts.ts'

/** Each is a file of its own; the document names that of its language, so that it comes beside the scripts. */
const files: Readonly<Record<Language, () => Promise<object>>> = {
  en: () => loadChunk(() => import('./english.ts'), chunkParts),
  de: () => loadChunk(() => import('./german.ts'), chunkParts),
}
/** Those that have been loaded. */
const catalogues: Partial<Record<Language, object>> = {}

const load = async (language: Language) => void (catalogues[language] ??= await files[language]())

/** Resolves when the texts of the page's language are there, without which nothing can be rendered. @throws {ChunkLoadError} */
export const firstCatalogue: Promise<void> = load(boot.language)

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

/**
 * Provides the messages of the page's language; dates and numbers follow the reader's region and time zone.
 * @param texts of pages that most visits do not open, beside those of every page; the same object at every rendering
 */
export function I18nProvider({ texts, children }: { texts?: Texts; children: ReactNode }) {
  const language = useLanguage()
  const messages = useMemo(
    () =>
      withProductName(
        { ...catalogues[language], ...(texts && inLanguage(texts, language)) },
        boot.branding?.name ?? null,
      ),
    [texts, language],
  )
  // The locale is that of the reader's region, as a variant of the page's language.
  const locale = regionalLocale(language, navigator.languages) as Language
  return (
    // The type of the messages includes those that are loaded with their pages.
    <IntlProvider locale={locale} messages={messages as never} timeZone={timeZone} onError={fail}>
      {children}
    </IntlProvider>
  )
}

/** A component that brings its words, for one that is loaded when it is opened. @param texts as of `I18nProvider` */
export const withTexts = <P extends object>(texts: Texts, Component: ComponentType<P>) =>
  function WithTexts(props: P) {
    return (
      <I18nProvider texts={texts}>
        <Component {...props} />
      </I18nProvider>
    )
  }

/** A missing message is a bug, and tests find it as one. */
function fail(error: Error): never {
  throw error
}

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
 * Shows everything in this language as soon as its texts are there. The choice is a cookie, because the server uses it for mails, refusals
 * and the gateway's pages; pages of containers may read and set it, and it holds no secret.
 */
export async function chooseLanguage(language: Language): Promise<void> {
  await load(language)
  const isSecure = location.protocol === 'https:'
  document.cookie = `${languageCookie}=${language}; Path=/; Max-Age=${cookieMaxAge}; SameSite=Lax${isSecure ? '; Secure' : ''}`
  document.documentElement.lang = language
  current = language
  for (const listener of listeners) listener()
}

/** Turns anything that a request can throw into one sentence; the server's own where it sent one. */
export function useErrorMessage(): (error: unknown) => string {
  const t = useTranslations('frame.problem')
  return (error) => {
    const problem = problemIn(error)
    return 'sentence' in problem ? problem.sentence : t(problem.key)
  }
}
