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
