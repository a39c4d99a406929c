import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isProcessAlive } from '@berth/server/machine/process-alive.ts'
import { readPidFile, type PidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { CommandFailed } from './command-failure.ts'

/** Timeout for a service that runs but does not answer, in ms: its API may be draining, and another one starting. */
const defaultTimeout = 40_000
/** Interval of attempts, in ms. */
const retryEvery = 100
/** Delay before the operator is notified of the wait, in ms. */
const noteAfter = 1_000

export interface SearchOptions {
  readonly dataDir: string
  /** Receives the one line about the wait. */
  readonly note: (line: string) => void
  readonly signal: AbortSignal
  /** ms */
  readonly timeout?: number
}

/**
 * Finds a running service, and waits for one whose API process is being replaced.
 * @returns undefined when none runs: then no other process uses the store
 * @throws {CommandFailed} when it runs but does not answer, or access is denied
 */
export async function findService(options: SearchOptions): Promise<PidFile | undefined> {
  const began = performance.now()
  let wasTold = false
  for (;;) {
    const found = lookFor(options.dataDir)
    if (!found || (await answers(found.socket))) return found
    if (!isAlive(found)) return undefined
    const waited = performance.now() - began
    if (waited > (options.timeout ?? defaultTimeout)) throw new CommandFailed(notAnswering(found))
    if (waited > noteAfter && !wasTold) options.note('Berth is starting its API; waiting for it.')
    wasTold ||= waited > noteAfter
    await sleep(retryEvery, undefined, { signal: options.signal })
  }
}

function lookFor(dataDir: string): PidFile | undefined {
  try {
    return readPidFile(dataDir)
  } catch (error) {
    throw isForbidden(error) ? new CommandFailed(notAllowed(dataDir)) : error
  }
}

/** Whether a process listens on the socket. @throws {CommandFailed} when access is denied */
async function answers(socket: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const connection = connect(socket)
  connection.once('connect', () => resolve(true))
  connection.once('error', (error) =>
    isForbidden(error) ? reject(new CommandFailed(notAllowed(socket))) : resolve(false),
  )
  try {
    return await promise
  } finally {
    connection.destroy()
  }
}

/** Checks the socket's folder, too: another process may have got the same id. */
function isAlive({ pid, socket }: PidFile): boolean {
  return existsSync(path.dirname(socket)) && isProcessAlive(pid)
}

const isForbidden = (error: unknown) => ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')

const notAllowed = (what: string) =>
  `You may not use ${what}: only the account that Berth runs as may. Run this as that account, e.g. with sudo -u.`

const notAnswering = ({ pid }: PidFile) =>
  `Berth runs (process ${pid}), but its API does not answer. Its log says why; nothing was done.`
