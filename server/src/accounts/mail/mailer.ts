/** Port to a mail transport. */
export interface Mailer {
  /**
   * Sends one message to the next mail server (or writes it to the outbox).
   * Resolving means accepted; after a rejection the user must be notified that no mail is coming.
   * @throws when it is not accepted within 10 s
   */
  send(email: Email): Promise<void>
  /** Closes idle connections. */
  close(): void
}

export interface Email {
  /** One validated address: a stored one, never a client's input. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Max characters of a reason; a mail server may send a text of any length. */
const maxReasonLength = 200

/** Matches links and parts of tokens, also where a mail's encoding broke them up. */
const secretPart = /\S*(?:https?:|www\.|token)\S*|[\w=+/-]{20,}/gi
const anyAddress = /[^\s<>()[\]"',;:]+@[^\s<>()[\]"',;:]+/g

/**
 * Why a mail was not accepted, for administrators: the text of the mail server or of the connection's error, in one
 * line, at most 200 characters, without links, tokens, and addresses other than the addressee's. A filter that refuses
 * a mail may quote it.
 */
export function failureReason(error: unknown, to: string): string {
  const text = error instanceof Error ? error.message : String(error)
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(anyAddress, (found) => (found.toLowerCase() === to.toLowerCase() ? found : '…'))
    // Split off first: the address itself may be as long as a token.
    .split(to)
    .map((part) => part.replace(secretPart, '…'))
    .join(to)
    .trim()
  return line.length > maxReasonLength
    ? `${line.slice(0, maxReasonLength - 1).toWellFormed()}…`
    : line || 'no reason was given'
}
