/** The port to whatever carries mail. */
export interface Mailer {
  /**
   * Hands one message to the next mail server (or writes it to the outbox).
   * Resolving means accepted; a rejection means that the person must be told that no mail is coming.
   * @throws when it is not accepted within 10 s
   */
  send(email: Email): Promise<void>
  /** Ends idle connections. */
  close(): void
}

export interface Email {
  /** One validated address: a stored one, never what a client typed. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}
