import type { IncomingMessage, RequestListener } from 'node:http'

/** In which the command line says who sits at it, e.g. `operator root`; believed on the operator's socket alone. */
export const operatorHeader = 'x-berth-operator'

/** What may stand in the audit log: words of the command line, not of whoever finds another way to the socket. */
const nameForm = /^operator [\w.@$ ()-]{1,80}$/

/**
 * The requests that came by the operator's socket. A request is known by the listener that took it, never by anything
 * that it says of itself: a header can be sent by anybody, and the gateway passes unknown ones on.
 */
export class OperatorRequests {
  readonly #theirs = new WeakSet<IncomingMessage>()

  /** For the listener of the operator's socket, and for no other: marks each request, and has it answered by `handle`. */
  accept(handle: RequestListener): RequestListener {
    return (request, response) => {
      this.#theirs.add(request)
      handle(request, response)
    }
  }

  /** The operator's name when the request is theirs; plain `operator` when it says none, or none that can be written down. */
  nameOf(request: IncomingMessage): string | undefined {
    if (!this.#theirs.has(request)) return undefined
    const name = request.headers[operatorHeader]
    return typeof name === 'string' && nameForm.test(name) ? name : 'operator'
  }
}
