import type { ReactNode } from 'react'
import { I18nProvider } from '#/i18n/i18n-provider.tsx'
import { germanGroups, groups } from '#/messages/groups.ts'

const texts = { en: { groups }, de: { groups: germanGroups } }

/** Provides also the texts of groups, which most users never need. */
export function GroupsI18nProvider({ children }: { children: ReactNode }) {
  return <I18nProvider texts={texts}>{children}</I18nProvider>
}
