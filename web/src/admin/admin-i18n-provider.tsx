import type { ReactNode } from 'react'
import { IntlProvider } from 'use-intl/react'
import { useLanguage } from '#/i18n/language.ts'
import { de as germanForAll } from '#/messages/de.ts'
import { en as englishForAll } from '#/messages/en.ts'
import { useRegionalLanguage } from '#/i18n/i18n-provider.tsx'
import { admin as german } from './messages/de.ts'
import { admin as english } from './messages/en.ts'

const catalogues = { en: { ...englishForAll, admin: english }, de: { ...germanForAll, admin: german } }

/** As `I18nProvider`, with the texts for administrators. */
export function AdminI18nProvider({ children }: { children: ReactNode }) {
  const language = useLanguage()
  return (
    <IntlProvider locale={useRegionalLanguage()} messages={catalogues[language] as never}>
      {children}
    </IntlProvider>
  )
}
