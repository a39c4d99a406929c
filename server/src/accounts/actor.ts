import type { Language } from '@berth/api/boot.ts'
import type { Occasion } from '#/accounts/mail/link-email.ts'

/** Who administers: an administrator with an account, or the operator at the server's own command line. */
export interface Actor {
  /** Id of the account; null for the operator, who has none. */
  readonly id: number | null
  /** Address of the account; for the operator the name that the command line gives, such as `operator root`. */
  readonly email: string
  /** Origin of the request: an IP address, or `command line`. */
  readonly address: string
  /** Language of the request; mails that they send to others use it, too. */
  readonly language: Language
}

/** Client of a request, as far as it is known; for the mail, the list of sessions and the audit log. */
export interface ClientInfo {
  /** IP address; empty when unknown. */
  readonly address: string
  /** Id of a browser in which a user signed in before, for limits; see `DeviceCookies`. */
  readonly device?: string | undefined
  /** A program on this machine, for which limits by network address do not apply. */
  readonly isLocal: boolean
  /** Browser and system, e.g. `Firefox on Windows`; null for an unknown browser. */
  readonly browser: string | null
  /** Chosen by the user, or requested by the browser. */
  readonly language: Language
}

/** Occasion of a mail: its address was entered by this client. */
export const requestedBy = ({ address, browser, language }: Omit<ClientInfo, 'isLocal' | 'device'>): Occasion => ({
  kind: 'asked',
  address,
  browser,
  language,
})
