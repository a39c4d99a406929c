/** A command was refused or could not be done; its words are sentences for whoever typed it. The exit code is 1. */
export class CommandFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandFailed'
  }
}

/** A command was not typed as it has to be; the exit code is 2. */
export class WrongUsage extends CommandFailed {}

/** The sentence of what was being done, and of what got in its way. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : String(message)
}
