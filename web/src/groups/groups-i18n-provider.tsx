import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/translation-provider.tsx'
import { groups as german } from '#/messages/de/groups.ts'
import { de } from '#/messages/de.ts'
import { groups as english } from '#/messages/en/groups.ts'
import { en } from '#/messages/en.ts'

const catalogues = { en: { ...en, groups: english }, de: { ...de, groups: german } }

/** As `I18nProvider`, with the texts of groups, which most users never need. */
export function GroupsI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
