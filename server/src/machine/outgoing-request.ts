import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as plainRequest } from '@berth/gateway/basics/bind.ts'

const { request: tlsRequest } = process.getBuiltinModule('node:https')

type Send = (url: URL, options: RequestOptions) => ClientRequest

export interface OutgoingRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Ends the request, and the answer while it is read. */
  readonly signal?: AbortSignal | undefined
}

/** An answer whose body is not read yet; a reader leaves its iteration, or calls `discard`. */
export interface OutgoingAnswer {
  readonly status: number
  /** Names and values by turns, as they came. */
  readonly rawHeaders: readonly string[]
  readonly body: AsyncIterable<Buffer>
  /** Ends the connection. */
  readonly discard: () => void
}

/**
 * Asks a server elsewhere. Redirects are not followed, the body is passed on as it comes (no content coding), and no
 * connection is kept.
 *
 * Not `fetch`: it refuses an answer with more than five content codings, and an abort that comes later, such as that of
 * `AbortSignal.timeout`, is thrown where nothing can catch it, and ended the whole process (Node 24).
 * @throws the signal's reason · an error of the system, of TLS or of the parser, most with a `code`
 */
export async function askServer(
  address: string,
  { method, headers, body, signal }: OutgoingRequest,
): Promise<OutgoingAnswer> {
  signal?.throwIfAborted()
  const url = new URL(address)
  const send: Send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const asked = send(url, { method, agent: false, headers: { 'accept-encoding': 'identity', ...headers } })
  const abort = () => void asked.destroy()
  signal?.addEventListener('abort', abort, { once: true })
  asked.once('close', () => signal?.removeEventListener('abort', abort))
  try {
    const answered = headOf(asked)
    asked.end(body)
    return toAnswer(await answered, asked, signal)
  } catch (error) {
    asked.destroy()
    signal?.throwIfAborted()
    throw error
  }
}

function headOf(asked: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once('response', resolve)
    // For good: an error may also come after the answer, and would end the process without a listener.
    asked.on('error', reject)
    // Such as after a switch to another protocol, which was not asked for.
    asked.once('close', () => reject(new Error('the connection ended without an answer')))
  })
}

function toAnswer(answer: IncomingMessage, asked: ClientRequest, signal: AbortSignal | undefined): OutgoingAnswer {
  answer.on('error', () => undefined)
  const body = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* answer as AsyncIterable<Buffer>
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      asked.destroy()
    }
  }
  return {
    status: answer.statusCode ?? 0,
    rawHeaders: answer.rawHeaders,
    body: { [Symbol.asyncIterator]: body },
    discard: () => void asked.destroy(),
  }
}
