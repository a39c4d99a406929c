import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway, GatewayParts, Location, Route } from '../gateway.ts'
import { type Admission, admit } from './admit.ts'
import { ask } from './ask.ts'
import { dropRest } from './drop-rest.ts'
import { parseTarget, type Target } from './first-segment.ts'
import { type Exchange, forward } from './forward.ts'
import { GatewayRefusal, gatewayRefusals } from './gateway-refusals.ts'
import { checkMessage, checkOrigin, hasBody, opensWebSocket, ownOrigin } from './message-rules.ts'
import { redirect, refuse } from './refuse.ts'
import { requestHeaders } from './request-headers.ts'
import { askForWebSocket, type Opening, openTunnel } from './tunnel.ts'
import { responseOn } from './upgrade-response.ts'

/** Milliseconds. */
export interface GatewayLimits {
  /** How long an app may take to accept a connection. How long it may take to answer is left to the client. */
  readonly connect: number
  /** How long answers may go on after `close`. */
  readonly grace: number
}

const usualLimits: GatewayLimits = { connect: 10_000, grace: 4_000 }

/**
 * The gateway inside Berth's own process, on `node:http`. It keeps nothing about routes, callers or containers:
 * every request asks `parts` anew, so a block or a new address counts from the next request on.
 */
export function createBuiltinGateway(parts: GatewayParts, limits: GatewayLimits = usualLimits): Gateway {
  return new BuiltinGateway(parts, limits)
}

class BuiltinGateway implements Gateway {
  readonly #parts: GatewayParts
  readonly #limits: GatewayLimits
  readonly #answers = new Set<ServerResponse>()
  readonly #tunnels = new Set<Duplex>()
  #isClosing = false

  constructor(parts: GatewayParts, limits: GatewayLimits) {
    this.#parts = parts
    this.#limits = limits
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    remember(this.#answers, response)
    dropRest(request, response)
    void this.#answer({ request, response })
  }

  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void {
    // Node's types are wider than its documentation: it is a net.Socket unless a server was told to use something else.
    const socket = duplex as Socket
    // A client that resets the connection while we look its token up would otherwise end the process.
    socket.on('error', () => {})
    const response = responseOn(socket, request)
    if (!opensWebSocket(request)) return this.#answerPlainly(request, response)
    remember(this.#tunnels, socket)
    void this.#answer({ request, response, socket, head })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const socket of this.#tunnels) socket.destroy()
    const graceEnds = Date.now() + this.#limits.grace
    while (this.#answers.size > 0 && Date.now() < graceEnds) await sleep(20)
    for (const response of this.#answers) response.destroy()
  }

  /** Whoever offers h2c or another protocol gets plain HTTP, as RFC 9110, 7.8 allows; but a body is out of the parser's reach here. */
  #answerPlainly(request: IncomingMessage, response: ServerResponse): void {
    const refusal = gatewayRefusals.badMessage('It has a body and asks for another protocol.')
    if (hasBody(request)) refuse(request, response, refusal, this.#parts)
    else this.request(request, response)
  }

  async #answer(exchange: Exchange | Opening): Promise<void> {
    try {
      const target = this.#check(exchange)
      const admission = await admit(this.#parts, exchange.request, target)
      if (admission.kind === 'redirect') redirect(exchange.response, admission.status, admission.to)
      else await this.#lead(exchange, target, admission)
    } catch (error) {
      this.#refuse(exchange, error)
    }
  }

  #check(exchange: Exchange | Opening): Target {
    if (this.#isClosing) throw gatewayRefusals.shuttingDown()
    checkMessage(exchange.request)
    if ('socket' in exchange) checkOrigin(exchange.request, this.#parts.scheme)
    return parseTarget(exchange.request.url ?? '')
  }

  async #lead(
    exchange: Exchange | Opening,
    target: Target,
    { route, caller }: Extract<Admission, { kind: 'app' }>,
  ): Promise<void> {
    const { request, response } = exchange
    const where = reachable(await this.#parts.locate(route))
    const headers = await requestHeaders(this.#parts, request, route, caller)
    // The client may have left while we asked.
    if (response.destroyed) return
    const opens = 'socket' in exchange ? askForWebSocket : []
    const question = {
      ...where,
      method: request.method ?? 'GET',
      path: pathFor(target, route),
      headers: [...headers, ...opens],
    }
    const appRequest = ask(question, this.#limits.connect)
    const to = { route, origin: ownOrigin(request, this.#parts.scheme) }
    const report = (cause: Error) => this.#report(request, cause)
    if ('socket' in exchange) await openTunnel(exchange, appRequest, to, report)
    else await forward(exchange, appRequest, to, report)
  }

  #refuse({ request, response }: Exchange, error: unknown): void {
    // A client that left has broken its app's connection itself.
    if (response.destroyed) return
    const refusal = error instanceof GatewayRefusal ? error : gatewayRefusals.bug(error)
    if (refusal.cause !== undefined) this.#report(request, refusal.cause)
    refuse(request, response, refusal, this.#parts)
  }

  #report(request: IncomingMessage, cause: unknown): void {
    const [path = ''] = (request.url ?? '').split('?', 1)
    this.#parts.report(new Error(`${request.method} ${path}`, { cause }))
  }
}

function reachable(location: Location): Extract<Location, { host: string }> {
  if ('unavailable' in location) throw gatewayRefusals.unavailable(location.unavailable)
  return location
}

function pathFor({ segment, rest, query }: Target, { stripPrefix }: Route): string {
  return stripPrefix ? (rest || '/') + query : `/${segment}${rest}${query}`
}

function remember<T extends { once(event: 'close', listener: () => void): unknown }>(open: Set<T>, one: T): void {
  open.add(one)
  one.once('close', () => open.delete(one))
}
