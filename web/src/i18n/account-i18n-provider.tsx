import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/translation-provider.tsx'
import { data as germanData } from '#/messages/de/data.ts'
import { sessions as germanSessions } from '#/messages/de/sessions.ts'
import { tokens as germanTokens } from '#/messages/de/tokens.ts'
import { de } from '#/messages/de.ts'
import { data } from '#/messages/en/data.ts'
import { sessions } from '#/messages/en/sessions.ts'
import { tokens } from '#/messages/en/tokens.ts'
import { en } from '#/messages/en.ts'

const catalogues = {
  en: { ...en, data, sessions, tokens },
  de: { ...de, data: germanData, sessions: germanSessions, tokens: germanTokens },
}

/** As `I18nProvider`, with the texts of the pages about the own account, which most visits do not open. */
export function AccountI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
