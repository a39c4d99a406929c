import type { Language } from '@berth/api/boot.ts'
import type { Occasion } from '#/mail/magic-link-email.ts'

/** Where a request comes from, as far as it can be told; for the mail, the list of sessions and the audit log. */
export interface ClientInfo {
  /** IP address; empty when nobody told us. */
  readonly address: string
  /** A program on this machine asks, for which limits by network address do not hold. */
  readonly isLocal: boolean
  /** Browser and system in words of ours, e.g. `Firefox on Windows`; null when it is no browser that we know. */
  readonly browser: string | null
  /** That they chose, or that their browser asks for. */
  readonly language: Language
}

/** As the reason for a mail: they typed the address that it goes to. */
export const requestedBy = ({ address, browser, language }: Omit<ClientInfo, 'isLocal'>): Occasion => ({
  kind: 'asked',
  address,
  browser,
  language,
})
