import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/translation-provider.tsx'
import { snapshots as german } from '#/messages/de/snapshots.ts'
import { de } from '#/messages/de.ts'
import { snapshots as english } from '#/messages/en/snapshots.ts'
import { en } from '#/messages/en.ts'

const catalogues = { en: { ...en, snapshots: english }, de: { ...de, snapshots: german } }

/** As `I18nProvider`, with the texts of snapshots, which most users never need. */
export function SnapshotsI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
