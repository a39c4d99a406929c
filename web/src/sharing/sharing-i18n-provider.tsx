import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/translation-provider.tsx'
import { sharing as german } from '#/messages/de/sharing.ts'
import { de } from '#/messages/de.ts'
import { sharing as english } from '#/messages/en/sharing.ts'
import { en } from '#/messages/en.ts'

const catalogues = { en: { ...en, sharing: english }, de: { ...de, sharing: german } }

/** As `I18nProvider`, with the texts of shares, which most users never need. */
export function SharingI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
