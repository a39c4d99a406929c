import type { ReactNode } from 'react'
import { TranslationProvider } from '#/i18n/translation-provider.tsx'
import { apiDocs as german } from '#/messages/de/api-docs.ts'
import { de } from '#/messages/de.ts'
import { apiDocs as english } from '#/messages/en/api-docs.ts'
import { en } from '#/messages/en.ts'

const catalogues = { en: { ...en, apiDocs: english }, de: { ...de, apiDocs: german } }

/** As `I18nProvider`, with the texts of the API reference, which no other page loads. */
export function ApiDocsI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
