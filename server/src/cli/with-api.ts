import { createClient, type Client } from '@berth/api/client.ts'
import type { Logger } from 'pino'
import { operatorHeader } from '#/http/operator-socket.ts'
import { CommandFailed } from './failure.ts'
import { findService } from './find-service.ts'
import type { Terminal } from './terminal.ts'
import { unixFetch } from './unix-fetch.ts'

/** How long one call may take, in ms: the engine may have 10 s for each of many containers. */
const callLimit = 120_000

/** What every command is given. */
export interface Here {
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
export async function withApi<T>(here: Here, work: (api: Client) => Promise<T>): Promise<T> {
  const service = await search(here)
  if (service) return work(createClient(toService(here, service.socket)))
  if (here.settingProblems.length > 0) throw new CommandFailed(here.settingProblems.join('\n'))
  // Half a second of loading, which no command needs while the service runs.
  const { startOwnApi } = await import('./own-api.ts')
  const own = await startOwnApi(here.env, here.log)
  let isWorkLeft = false
  try {
    return await work(createClient(withWords(unixFetch(own.socket, optionsOf(here)))))
  } finally {
    isWorkLeft = await own.close()
    if (isWorkLeft) here.terminal.note('The engine has not done everything yet; Berth does the rest when it starts.')
    await tellIfStarted(here)
  }
}

const search = ({ dataDir, terminal, signal }: Here) =>
  findService({ dataDir, note: (line) => terminal.note(line), signal })

const optionsOf = ({ operator, signal }: Here) => ({
  headers: { [operatorHeader]: operator },
  limit: callLimit,
  signal,
})

/** While the API process is replaced nobody listens for a moment; what could not be sent was not done, and is sent again. */
function toService(here: Here, first: string): typeof fetch {
  let socket = first
  return withWords(async (input, init) => {
    for (;;) {
      try {
        return await unixFetch(socket, optionsOf(here))(input, init)
      } catch (error) {
        if (!wasNotSent(error)) throw error
        const found = await search(here)
        if (!found) throw new CommandFailed('Berth was stopped meanwhile. Nothing more was done; try again.')
        socket = found.socket
      }
    }
  })
}

function withWords(send: typeof fetch): typeof fetch {
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

const wasNotSent = (error: unknown) => ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')

/** A service that began while we worked on its store has read part of it before. */
async function tellIfStarted({ dataDir, terminal, signal }: Here): Promise<void> {
  const isThere = (found: unknown) => found !== undefined
  // One that does not answer yet is there all the same.
  const isStarted = await findService({ dataDir, note: () => {}, signal, patience: 0 }).then(isThere, () => true)
  if (isStarted) terminal.note('Berth was started meanwhile. Send it SIGHUP, so that it reads anew what was changed.')
}
