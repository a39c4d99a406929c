import { useMemo, type ReactNode } from 'react'
import { IntlProvider } from 'use-intl/react'
import type { Language } from '@berth/api/boot.ts'
import { boot } from '#/api/api-client.ts'
import { withProductName } from '#/branding/branding.ts'
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
  const messages = useMemo(
    () => withProductName(catalogues[language], boot.branding?.name ?? null),
    [catalogues, language],
  )
  return (
    <IntlProvider locale={useRegionalLanguage()} messages={messages as never}>
      {children}
    </IntlProvider>
  )
}
