/** A command was refused or failed; its message is for the operator. The exit code is 1. */
export class CommandFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandFailed'
  }
}

/** Invalid arguments; the exit code is 2. */
export class WrongUsage extends CommandFailed {}

/** Sentence of the failed operation and its cause. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : String(message)
}
