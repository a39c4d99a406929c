import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request as sendRequest } from '@berth/gateway/basics/bind.ts'
import { isRenewalDue, type SessionLifetimes } from '#/accounts/sessions/begin-session.ts'
import type { HttpParts } from './server.ts'

/** Idle connections that are kept. */
const maxIdle = 64
/**
 * In ms: how long a request is sent again when its connection ends without an answer, as in a takeover, and the pause.
 */
const [retryFor, retryEvery] = [10_000, 50]

/**
 * Passes requests on to another listener, whole: for one that has answered nothing of them. They change nothing
 * (`GET`), so that one whose connection ends without an answer is sent again.
 */
export class PassOn {
  readonly #socketPath: string
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: maxIdle })

  /** @param socketPath Unix socket of the listener */
  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /** Never rejects. */
  async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The next request of the connection is read when this one has been.
    request.resume()
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    for (const until = performance.now() + retryFor; ; await sleep(retryEvery)) {
      const answer = await this.#send(request, gone.signal).catch(() => undefined)
      if (gone.signal.aborted) return void answer?.destroy()
      if (answer) return copy(answer, response)
      // The gateway answers then that Berth restarts.
      if (performance.now() > until) return void response.destroy()
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send({ method, url, rawHeaders }: IncomingMessage, signal: AbortSignal): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = endToEnd(rawHeaders)
    const sent = sendRequest({ socketPath: this.#socketPath, method, path: url, headers, agent: this.#agent, signal })
    sent.once('response', resolve).once('error', reject)
    sent.end()
    return promise
  }
}

/** Those of one connection (RFC 9110, 7.6.1): each has its own. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function endToEnd(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]]
    if (!hopByHop.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

function copy(answer: IncomingMessage, response: ServerResponse): void {
  answer.once('error', () => response.destroy())
  response.once('close', () => answer.destroy())
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders))
  answer.pipe(response)
}

/** Why a reader does not answer a request that another node has to. */
class LeadersToAnswer extends Error {}

/** Notes which sessions were used. */
export interface NoteUse {
  /** @param at ms since 1970 */
  noteUse(sid: string, at: number): void
}

/** Sessions at the reader of a follower: what has to be written because of one is the leader's to answer. */
export function readerSession(
  uses: NoteUse,
  lifetimes: Pick<SessionLifetimes, 'isRenewed'>,
): Pick<HttpParts, 'apiTokens' | 'renewal'> {
  return {
    apiTokens: { authenticate: () => Promise.reject(new LeadersToAnswer('the use of an API token is written')) },
    renewal: {
      keep: async ({ claims, via }, { now }) => {
        if (claims.acting !== null) throw new LeadersToAnswer('a takeover')
        if (via === 'cookie' && isRenewalDue(claims, lifetimes, now)) throw new LeadersToAnswer('a token is renewed')
        uses.noteUse(claims.sid, now.getTime())
      },
    },
  }
}
