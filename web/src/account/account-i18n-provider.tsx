import type { ReactNode } from 'react'
import { de, en } from '#/i18n/catalogues.ts'
import { TranslationProvider } from '#/i18n/i18n-provider.tsx'
import { data, germanData, germanSessions, sessions } from '#/messages/account.ts'
import { germanTokens, tokens } from '#/messages/tokens.ts'

const catalogues = {
  en: { ...en, data, sessions, tokens },
  de: { ...de, data: germanData, sessions: germanSessions, tokens: germanTokens },
}

/** As `I18nProvider`, with the texts of the pages about the own account, which most visits do not open. */
export function AccountI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
