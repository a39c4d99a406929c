import type { ReactNode } from 'react'
import { I18nProvider } from '#/i18n/i18n-provider.tsx'
import { germanSharing, sharing } from '#/messages/sharing.ts'

const texts = { en: { sharing }, de: { sharing: germanSharing } }

/** Provides also the texts of shares, which most users never need. */
export function SharingI18nProvider({ children }: { children: ReactNode }) {
  return <I18nProvider texts={texts}>{children}</I18nProvider>
}
