import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/translation-provider.tsx'
import { de as germanForAll } from '#/messages/de.ts'
import { tokens as germanTokens } from '#/messages/de/tokens.ts'
import { tokens as englishTokens } from '#/messages/en/tokens.ts'
import { groups as germanGroups } from '#/messages/de/groups.ts'
import { groups as englishGroups } from '#/messages/en/groups.ts'
import { en as englishForAll } from '#/messages/en.ts'
import { admin as german } from './messages/de.ts'
import { admin as english } from './messages/en.ts'

const catalogues = {
  en: { ...englishForAll, tokens: englishTokens, groups: englishGroups, admin: english },
  de: { ...germanForAll, tokens: germanTokens, groups: germanGroups, admin: german },
}

/** As `I18nProvider`, with the texts for administrators. */
export function AdminI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
