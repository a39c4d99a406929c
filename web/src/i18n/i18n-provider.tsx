import type { ReactNode } from 'react'
import { IntlProvider } from 'use-intl/react'
import type { Language } from '@berth/api/boot.ts'
import { useLanguage } from '#/i18n/language.ts'
import { de } from '#/messages/de.ts'
import { en } from '#/messages/en.ts'
import { regionalLocale } from '#/i18n/regional-locale.ts'

const catalogues = { en, de }

/** As the reader's region writes dates and numbers. The type says which language it is a kind of. */
export const useRegionalLanguage = () => regionalLocale(useLanguage(), navigator.languages) as Language

/** Everything inside speaks the language of the page; dates and numbers are written as there, in the reader's own time zone. */
export function I18nProvider({ children }: { children: ReactNode }) {
  const language = useLanguage()
  return (
    // The type of the messages names those of administrators, too, which come with their pages.
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

/** A sentence that is missing is a bug, and tests find it as one. */
function fail(error: Error): never {
  throw error
}
