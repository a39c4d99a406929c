import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/i18n-provider.tsx'
import { germanSharing as german, sharing as english } from '#/messages/sharing.ts'
import { de, en } from '#/i18n/catalogues.ts'

const catalogues = { en: { ...en, sharing: english }, de: { ...de, sharing: german } }

/** As `I18nProvider`, with the texts of shares, which most users never need. */
export function SharingI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
