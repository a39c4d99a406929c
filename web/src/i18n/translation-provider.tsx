import type { ReactNode } from 'react'
import { IntlProvider } from 'use-intl/react'
import type { Language } from '@berth/api/boot.ts'
import { useLanguage } from './language.ts'
import { useRegionalLanguage } from './i18n-provider.tsx'

/** As `I18nProvider`, with these texts instead. */
export function TranslationProvider({
  catalogues,
  children,
}: {
  catalogues: Readonly<Record<Language, object>>
  children: ReactNode
}) {
  const language = useLanguage()
  return (
    <IntlProvider locale={useRegionalLanguage()} messages={catalogues[language] as never}>
      {children}
    </IntlProvider>
  )
}
