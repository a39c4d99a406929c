import type { Language } from '@berth/api/boot.ts'

/** Who administers: an administrator with an account, or the operator at the server's own command line. */
export interface Actor {
  /** Of the account; null for the operator, who has none. */
  readonly id: number | null
  /** Address of the account; for the operator the name that the command line gives, such as `operator root`. */
  readonly email: string
  /** Origin of the request: an IP address, or `command line`. */
  readonly address: string
  /** Language of the request; mails that they send to others use it, too. */
  readonly language: Language
}
