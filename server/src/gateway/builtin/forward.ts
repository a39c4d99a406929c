import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { replyTo } from './ask.ts'
import { gatewayRefusals } from './gateway-refusals.ts'
import { hasBody } from './message-rules.ts'
import { requestTrailers } from './request-headers.ts'
import { type Destined, responseHeaders, responseTrailers } from './response-headers.ts'

/** The client's side of a request that is being answered. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Sends the request's body to the app and the app's answer to the client, each as it comes: nothing is collected, and
 * whoever reads slowly holds the other back. A client that leaves ends the app's request.
 * Resolves when the answer has begun. Later failures of the app cut the client's connection and reach `report`.
 * @throws {GatewayRefusal} 502 while nothing has been sent to the client
 */
export async function forward(
  exchange: Exchange,
  appRequest: ClientRequest,
  to: Destined,
  report: (cause: Error) => void,
): Promise<void> {
  // Answered or gone: either way nobody waits for the app any more.
  exchange.response.once('close', () => appRequest.destroy())
  upload(exchange, appRequest)
  const reply = await replyTo(appRequest).catch((cause: unknown) => {
    throw gatewayRefusals.appFailed(cause)
  })
  if (reply.kind === 'upgrade') {
    reply.socket.destroy()
    throw gatewayRefusals.appFailed(new Error('the app changed the protocol unasked'))
  }
  relay(reply.message, exchange.response, to, report)
}

/**
 * Passes an app's answer on, its head at once: a stream of events may have nothing to say for minutes.
 * @throws {GatewayRefusal} 502 when the answer cannot be passed on faithfully; nothing has been sent then
 */
export function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  to: Destined,
  report: (cause: Error) => void,
): void {
  sendHead(answer, response, to)
  // Before the pipeline's own listener, which ends the response.
  answer.once('end', () => response.addTrailers(responseTrailers(answer.rawTrailers)))
  answer.once('error', (cause) => {
    if (!response.destroyed) report(cause)
  })
  // Destroys the response when the app dies in mid-answer, so that the client sees a cut and not an end.
  pipeline(answer, response, () => {})
}

function sendHead(answer: IncomingMessage, response: ServerResponse, to: Destined): void {
  try {
    const coding = answer.headers['transfer-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'chunked')
      throw new Error(`unknown transfer coding: ${coding}`)
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage, responseHeaders(answer.rawHeaders, to).flat())
    // Sends the head now. Not `flushHeaders`, which writes it as UTF-8 and so changes every byte above 127.
    response.write('', 'latin1')
  } catch (cause) {
    answer.destroy()
    throw gatewayRefusals.appFailed(cause)
  }
}

function upload({ request }: Exchange, appRequest: ClientRequest): void {
  if (!hasBody(request)) {
    appRequest.end()
    return
  }
  // Before the pipe's own listener, which ends the app's request.
  request.once('end', () => appRequest.addTrailers(requestTrailers(request)))
  // Not `pipeline`: it would destroy the client's connection with the app's, and no refusal could be sent on it.
  request.pipe(appRequest)
  // Sends the head now: the app may answer before the client sends any of the body. As latin1, see sendHead.
  appRequest.write('', 'latin1')
}
