import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long a client may go on sending after its answer, in ms. */
const patience = 30_000

/**
 * What is left of an upload when its answer is complete is read and dropped: closing at once would reset the connection,
 * and the client would lose the answer (a 413, say) while it is still sending.
 */
export function dropRest(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return
    request.unpipe()
    request.resume()
    const timer = setTimeout(() => request.destroy(), patience).unref()
    request.once('end', () => clearTimeout(timer))
    request.once('close', () => clearTimeout(timer))
  })
}
