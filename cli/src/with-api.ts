import { createClient, type Client } from '@berth/api/client.ts'
import type { Logger } from 'pino'
import { operatorHeader } from '@berth/server/http/operator-socket.ts'
import { CommandFailed, DataFolderInUse } from './command-failure.ts'
import { findService, unixFetch } from './find-service.ts'
import type { Terminal } from './terminal.ts'

/** Timeout of one call, in ms: the engine may take 10 s for each of many containers. */
const callTimeout = 120_000
/** Of a call that reads or writes a home, in ms: longer than Berth takes for it. */
export const longTimeout = 1_800_000

/** Context of a command. */
export interface CommandContext {
  /** Settings of the environment and of `berth.env`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Why `berth.env` could not be read, and which of its lines have no effect. */
  readonly settingProblems: readonly string[]
  readonly settingNotes: readonly string[]
  readonly dataDir: string
  /** Folder that file arguments are relative to. */
  readonly folder: string
  readonly terminal: Terminal
  /** Name of the operator for the audit log: `operator root`. */
  readonly operator: string
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  /** Log of the API in this process; silent unless the command is verbose. */
  readonly log: Logger
}

/**
 * Runs the work with a client of the API, as the operator: of the running service, otherwise of an API in this process,
 * which is closed afterwards.
 * @param work gets what sends requests, too, for answers that are read as they come
 * @param timeout of one call, in ms
 * @throws {CommandFailed} when no API can be started, or it stopped · what the work throws
 */
export async function withApi<T>(
  context: CommandContext,
  work: (api: Client, send: typeof fetch) => Promise<T>,
  timeout = callTimeout,
): Promise<T> {
  const run = (send: typeof fetch) => work(createClient(send), send)
  const service = await search(context)
  if (service) return run(toService(context, service.socket, timeout))
  if (context.settingProblems.length > 0) throw new CommandFailed(context.settingProblems.join('\n'))
  const own = await startOwn(context)
  if (!('close' in own)) return run(toService(context, own.socket, timeout))
  let isWorkLeft = false
  try {
    return await run(withClearErrors(unixFetch(own.socket, optionsOf(context, timeout))))
  } finally {
    isWorkLeft = await own.close()
    if (isWorkLeft) context.terminal.note('The engine has not done everything yet; Berth does the rest when it starts.')
    await warnIfStarted(context)
  }
}

/** How long a service that may be starting is waited for, in ms. */
const maxWait = 40_000

/**
 * An API in this process, or the service, when one began to start just now: for a moment it has the data folder and does not
 * say yet where it can be asked. @throws {CommandFailed}
 */
async function startOwn(context: CommandContext) {
  // Loading it takes half a second, which no command needs while the service runs.
  const { startEmbeddedApi } = await import('./embedded-api.ts')
  for (const end = performance.now() + maxWait; ;) {
    try {
      return await startEmbeddedApi(context.env, context.log, (notice) => context.terminal.note(notice))
    } catch (error) {
      if (!(error instanceof DataFolderInUse)) throw error
      const service = await search(context)
      if (service) return service
      if (!error.isStarting || performance.now() > end) throw error
      context.terminal.note('Another process has the data folder, and may be a Berth that is starting; waiting for it.')
    }
  }
}

const search = ({ dataDir, terminal, signal }: CommandContext) =>
  findService({ dataDir, note: (line) => terminal.note(line), signal })

const optionsOf = ({ operator, signal }: CommandContext, timeout: number) => ({
  headers: { [operatorHeader]: operator },
  timeout,
  signal,
})

/**
 * While the API process is replaced no process listens for a moment; a request that could not be sent had no effect and
 * is retried.
 */
function toService(context: CommandContext, first: string, timeout: number): typeof fetch {
  let socket = first
  return withClearErrors(async (input, init) => {
    for (;;) {
      try {
        return await unixFetch(socket, optionsOf(context, timeout))(input, init)
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

/** A service that started while this process changed its store has read a part of it before. */
async function warnIfStarted({ dataDir, terminal, signal }: CommandContext): Promise<void> {
  const isThere = (found: unknown) => found !== undefined
  // A service that does not answer yet runs all the same.
  const isStarted = await findService({ dataDir, note: () => {}, signal, timeout: 0 }).then(isThere, () => true)
  if (isStarted) terminal.note('Berth was started meanwhile. Send it SIGHUP, so that it reads anew what was changed.')
}
