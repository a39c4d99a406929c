/** A command was refused or failed; its message is for the operator. The exit code is 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** Invalid arguments; the exit code is 2. */
export class WrongUsage extends CommandFailed {}

/** Sentence of the failed operation and its cause. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : String(message)
}

/** Another process uses the data folder. */
export class DataFolderInUse extends CommandFailed {
  /** Whether it may be a Berth that has just begun to start, and does not say yet where it can be asked. */
  readonly isStarting: boolean

  constructor(sentence: string, isStarting: boolean) {
    super(sentence)
    this.isStarting = isStarting
  }
}
