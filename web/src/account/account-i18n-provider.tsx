import type { ReactNode } from 'react'
import { I18nProvider } from '#/i18n/i18n-provider.tsx'
import { data, germanData, germanSessions, sessions } from '#/messages/account.ts'
import { germanSshKeys, sshKeys } from '#/messages/ssh-keys.ts'
import { germanTokens, tokens } from '#/messages/tokens.ts'

const texts = {
  en: { data, sessions, sshKeys, tokens },
  de: { data: germanData, sessions: germanSessions, sshKeys: germanSshKeys, tokens: germanTokens },
}

/** Provides also the texts of the pages about the own account, which most visits do not open. */
export function AccountI18nProvider({ children }: { children: ReactNode }) {
  return <I18nProvider texts={texts}>{children}</I18nProvider>
}
