import type { IncomingMessage, RequestListener } from 'node:http'

/** Header with the operator's name, e.g. `operator root`; trusted on the operator's socket alone. */
export const operatorHeader = 'x-berth-operator'

/** Names that may be written to the audit log: those that the command line sends. */
const nameForm = /^operator [\w.@$ ()-]{1,80}$/

/**
 * Requests of the operator's socket. A request is identified by its listener, never by its content: every client can
 * send a header, and the gateway forwards unknown ones.
 */
export class OperatorRequests {
  readonly #theirs = new WeakSet<IncomingMessage>()

  /** For the listener of the operator's socket alone: marks each request, and has it answered by `handle`. */
  accept(handle: RequestListener): RequestListener {
    return (request, response) => {
      this.#theirs.add(request)
      handle(request, response)
    }
  }

  /** The operator's name when the request is theirs; plain `operator` without a valid name. */
  nameOf(request: IncomingMessage): string | undefined {
    if (!this.#theirs.has(request)) return undefined
    const name = request.headers[operatorHeader]
    return typeof name === 'string' && nameForm.test(name) ? name : 'operator'
  }
}
