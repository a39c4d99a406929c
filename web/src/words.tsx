import type { ReactNode } from 'react'
import { IntlProvider } from 'use-intl/react'
import { useLanguage } from '#/language.ts'
import { de } from '#/messages/de.ts'
import { en } from '#/messages/en.ts'

const catalogues = { en, de }

/** Everything inside speaks the language of the page; dates and numbers are written as it writes them, in the reader's own time zone. */
export function Words({ children }: { children: ReactNode }) {
  const language = useLanguage()
  return (
    // The type of the messages names those of administrators, too, which come with their pages.
    <IntlProvider locale={language} messages={catalogues[language] as never} timeZone={timeZone} onError={fail}>
      {children}
    </IntlProvider>
  )
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

/** A sentence that is missing is a bug, and tests find it as one. */
function fail(error: Error): never {
  throw error
}
