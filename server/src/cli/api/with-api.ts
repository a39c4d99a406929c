import { createClient, type Client } from '@berth/api/client.ts'
import type { Logger } from 'pino'
import { operatorHeader } from '#/http/operator-socket.ts'
import { CommandFailed } from '../command-failure.ts'
import { findService } from './find-service.ts'
import type { Terminal } from '../output/terminal.ts'
import { unixFetch } from './unix-fetch.ts'

/** How long one call may take, in ms: the engine may have 10 s for each of many containers. */
const callTimeout = 120_000

/** What every command is given. */
export interface CommandContext {
  /** The settings: of the environment, and of `berth.env`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Why `berth.env` could not be read, and what in it has no effect. */
  readonly settingProblems: readonly string[]
  readonly settingNotes: readonly string[]
  readonly dataDir: string
  /** Folder that the files on the command line are relative to. */
  readonly folder: string
  readonly terminal: Terminal
  /** Who sits at the command line, for the audit log: `operator root`. */
  readonly operator: string
  /** Ctrl-C. */
  readonly signal: AbortSignal
  /** Of the API in this process; silent unless the command is to be verbose. */
  readonly log: Logger
}

/**
 * Gives the work a client of the API, as the operator: of the service when one runs, otherwise of an API in this process,
 * which is closed again whatever becomes of the work.
 * @throws {CommandFailed} when there is no API to be had, or it went away · what the work throws
 */
export async function withApi<T>(context: CommandContext, work: (api: Client) => Promise<T>): Promise<T> {
  const service = await search(context)
  if (service) return work(createClient(toService(context, service.socket)))
  if (context.settingProblems.length > 0) throw new CommandFailed(context.settingProblems.join('\n'))
  // Half a second of loading, which no command needs while the service runs.
  const { startEmbeddedApi } = await import('./embedded-api.ts')
  const own = await startEmbeddedApi(context.env, context.log)
  let isWorkLeft = false
  try {
    return await work(createClient(withClearErrors(unixFetch(own.socket, optionsOf(context)))))
  } finally {
    isWorkLeft = await own.close()
    if (isWorkLeft) context.terminal.note('The engine has not done everything yet; Berth does the rest when it starts.')
    await warnIfStarted(context)
  }
}

const search = ({ dataDir, terminal, signal }: CommandContext) =>
  findService({ dataDir, note: (line) => terminal.note(line), signal })

const optionsOf = ({ operator, signal }: CommandContext) => ({
  headers: { [operatorHeader]: operator },
  timeout: callTimeout,
  signal,
})

/** While the API process is replaced nobody listens for a moment; what could not be sent was not done, and is sent again. */
function toService(context: CommandContext, first: string): typeof fetch {
  let socket = first
  return withClearErrors(async (input, init) => {
    for (;;) {
      try {
        return await unixFetch(socket, optionsOf(context))(input, init)
      } catch (error) {
        if (!isNotSent(error)) throw error
        const found = await search(context)
        if (!found) throw new CommandFailed('Berth was stopped meanwhile. Nothing more was done; try again.')
        socket = found.socket
      }
    }
  })
}

function withClearErrors(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    try {
      return await send(input, init)
    } catch (error) {
      if (error instanceof CommandFailed || (error as Error).name === 'AbortError') throw error
      throw new CommandFailed(
        'Berth did not answer to the end, so it is not known whether that was done. Look, and try again.',
      )
    }
  }
}

const isNotSent = (error: unknown) => ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')

/** A service that began while we worked on its store has read part of it before. */
async function warnIfStarted({ dataDir, terminal, signal }: CommandContext): Promise<void> {
  const isThere = (found: unknown) => found !== undefined
  // One that does not answer yet is there all the same.
  const isStarted = await findService({ dataDir, note: () => {}, signal, timeout: 0 }).then(isThere, () => true)
  if (isStarted) terminal.note('Berth was started meanwhile. Send it SIGHUP, so that it reads anew what was changed.')
}
