import http, { type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

export interface UnixFetchOptions {
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Timeout of a request, in ms. */
  readonly timeout: number
  /** Cancels requests in flight, and refuses further ones. */
  readonly signal?: AbortSignal
}

/**
 * The part of `fetch` that the API's client needs, over a Unix socket; bodies are text. Our own, because loading undici
 * would slow every command (decision 042).
 * @throws {Error} with the `code` of the system, e.g. `ECONNREFUSED`, when no process listens; with the signal's reason
 */
export function unixFetch(socketPath: string, options: UnixFetchOptions): typeof fetch {
  return async (input, init = {}) => {
    const target = typeof input === 'string' ? input : input instanceof URL ? input.pathname + input.search : input.url
    const answer = await send(socketPath, target, init, options)
    const body = await text(answer)
    const type = answer.headers['content-type']
    return new Response(body === '' ? null : body, {
      status: answer.statusCode ?? 500,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
    })
  }
}

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
