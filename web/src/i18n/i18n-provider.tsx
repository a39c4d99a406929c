import type { ReactNode } from 'react'
import { IntlProvider } from 'use-intl/react'
import type { Language } from '@berth/api/boot.ts'
import { boot } from '#/api/api-client.ts'
import { withProductName } from '#/branding/branding.ts'
import { useLanguage } from '#/i18n/language.ts'
import { de } from '#/messages/de.ts'
import { en } from '#/messages/en.ts'
import { regionalLocale } from '#/i18n/regional-locale.ts'

const catalogues = withProductName({ en, de }, boot.branding?.name ?? null)

/** The locale of the reader's region, for dates and numbers, as a variant of the page's language. */
export const useRegionalLanguage = () => regionalLocale(useLanguage(), navigator.languages) as Language

/** Provides the messages of the page's language; dates and numbers follow the reader's region and time zone. */
export function I18nProvider({ children }: { children: ReactNode }) {
  const language = useLanguage()
  return (
    // The type of the messages includes those of the administration, which are loaded with its pages.
    <IntlProvider
      locale={useRegionalLanguage()}
      messages={catalogues[language] as never}
      timeZone={timeZone}
      onError={fail}
    >
      {children}
    </IntlProvider>
  )
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

/** A missing message is a bug, and tests find it as one. */
function fail(error: Error): never {
  throw error
}
