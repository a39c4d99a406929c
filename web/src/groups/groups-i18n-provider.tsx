import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/i18n-provider.tsx'
import { germanGroups as german, groups as english } from '#/messages/groups.ts'
import { de, en } from '#/i18n/catalogues.ts'

const catalogues = { en: { ...en, groups: english }, de: { ...de, groups: german } }

/** As `I18nProvider`, with the texts of groups, which most users never need. */
export function GroupsI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
