import { existsSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPidFile, type PidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { isProcessAlive } from '@berth/server/machine/process-alive.ts'
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

export interface UnixFetchOptions {
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Timeout of a request, in ms. */
  readonly timeout: number
  /** Cancels requests in flight, and refuses further ones. */
  readonly signal?: AbortSignal
}

/**
 * The part of `fetch` that the API's client needs, over a Unix socket; bodies are text, and plain text comes as it is
 * sent. Our own, because loading undici would slow every command (decision 042).
 * @throws {Error} with the `code` of the system, e.g. `ECONNREFUSED`, when no process listens; with the signal's reason
 */
export function unixFetch(socketPath: string, options: UnixFetchOptions): typeof fetch {
  return async (input, init = {}) => {
    const target = typeof input === 'string' ? input : input instanceof URL ? input.pathname + input.search : input.url
    const answer = await send(socketPath, target, init, options)
    const type = answer.headers['content-type']
    const status = answer.statusCode ?? 500
    if (status === 200 && type?.startsWith('text/plain')) return new Response(streamOf(answer), { status })
    const body = await text(answer)
    return new Response(body === '' ? null : body, {
      status,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
    })
  }
}

/** Text is short, so that all that comes is kept. */
const streamOf = (answer: IncomingMessage) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      answer.on('data', (piece: Buffer) => controller.enqueue(new Uint8Array(piece)))
      answer.once('end', () => controller.close())
      answer.once('error', (error) => controller.error(error))
    },
    cancel: () => void answer.destroy(),
  })

function send(
  socketPath: string,
  target: string,
  init: RequestInit,
  { headers, timeout, signal }: UnixFetchOptions,
): Promise<IncomingMessage> {
  const ends = AbortSignal.any([AbortSignal.timeout(timeout), ...(signal ? [signal] : [])])
  return new Promise((resolve, reject) => {
    const request = http.request({
      socketPath,
      path: target,
      method: init.method ?? 'GET',
      headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
      // A connection for each request: an idle one would delay the graceful shutdown of the API.
      agent: false,
      signal: ends,
    })
    request.once('response', resolve)
    request.once('error', (error) => reject(ends.aborted ? (ends.reason as Error) : error))
    request.end(init.body as string | undefined)
  })
}
