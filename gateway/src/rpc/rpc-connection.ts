import type { Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** What one side may call on the other; arguments and results are plain data. */
type RpcMethods<T> = { readonly [K in keyof T]: (...args: never[]) => unknown }
type Name<T> = keyof T & string
type Args<F> = F extends (...args: infer A) => unknown ? A : never
type Result<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never

/** The other process is gone, or went before it answered; whether it did what was asked is not known. */
export class ConnectionLost extends Error {
  constructor(message: string) {
    super(message)
    this.name = new.target.name
  }
}

/** No response in time. The other process may still execute the call: state that it changes must be sent again. */
export class CallTimeout extends Error {
  constructor(call: string, timeout: number) {
    super(`${call} was not answered within ${timeout} ms`)
    this.name = 'CallTimeout'
  }
}

export interface RpcOptions {
  /** Receives bugs: malformed messages, and failures of notifications. */
  readonly report: (problem: string) => void
  /** What unanswered calls are rejected with once the other process is gone. */
  readonly lostError?: () => ConnectionLost
  /** Max messages queued for the pipe, and max pending calls. */
  readonly maxWaiting?: number
}

/** Ten thousand users who reconnect at once fit; a process that does not respond cannot exhaust the memory. */
const maxWaiting = 20_000
/** Max time of sending without a pause, in ms: between two parts of a large state requests are served. */
const maxTurn = 5

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/**
 * RPC between the two processes: typed calls in both directions over a channel, with backpressure and a timeout for each call. Calls
 * are sent in order, and begin in order on the other side; none waits there for the end of the one before: handlers do where it
 * matters (`Gateway.serve`). Messages: `{call, args, id}` gets `{to: id, value}` or `{to: id, error}`; without `id` it is a
 * notification. Ours, not birpc: gateway/README.md.
 */
export class RpcConnection<There extends RpcMethods<There>> {
  readonly #channel: Channel
  readonly #handlers: ReadonlyMap<string, (...args: never[]) => unknown>
  readonly #options: Required<RpcOptions>
  readonly #unanswered = new Map<number, PendingCall>()
  readonly #outgoing: object[] = []
  #isPumping = false
  #endPause: (() => void) | undefined
  #isLost = false
  #lastId = 0
  /** Resolves when the other process is gone and every call that waited was rejected. */
  readonly lost: Promise<void>

  /** @param handlers what the other side may call */
  constructor(channel: Channel, handlers: object, options: RpcOptions) {
    this.#channel = channel
    this.#handlers = new Map(Object.entries(handlers))
    this.#options = { maxWaiting, lostError: () => new ConnectionLost('the other process is gone'), ...options }
    this.lost = channel.lost.then(() => this.#lose())
    channel.onMessage((message) => this.#receive(message))
  }

  /**
   * Calls and waits for the result, `timeout` ms or less.
   * @throws {ConnectionLost} @throws {CallTimeout} @throws {Error} with the message of what the other side threw
   */
  call<K extends Name<There>>(call: K, args: Args<There[K]>, timeout: number): Promise<Result<There[K]>> {
    if (!this.#isLost && this.#isFull())
      return Promise.reject(new Error(`${call} cannot be asked: too much waits for the other process`))
    return this.callBeyondLimit(call, args, timeout)
  }

  /**
   * As `call`, however much waits: for health checks, of which few wait at a time, and which ask for this very reason.
   * @throws {ConnectionLost} @throws {CallTimeout} @throws {Error} with the message of what the other side threw
   */
  callBeyondLimit<K extends Name<There>>(call: K, args: Args<There[K]>, timeout: number): Promise<Result<There[K]>> {
    if (this.#isLost) return Promise.reject(this.#options.lostError())
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const id = ++this.#lastId
    const onTimeout = () => this.#settle(id, ({ reject }) => reject(new CallTimeout(call, timeout)))
    this.#unanswered.set(id, { resolve, reject, timer: setTimeout(onTimeout, timeout) })
    this.#send({ call, args, id })
    return promise as Promise<Result<There[K]>>
  }

  /** Calls without waiting. @returns false when it was dropped: the other process is gone, or too much waits for it */
  notify<K extends Name<There>>(call: K, args: Args<There[K]>): boolean {
    if (this.#isLost || this.#isFull()) return false
    this.#send({ call, args })
    return true
  }

  /** Responses are never refused: there are no more of them than calls, which the other side limits. */
  #isFull(): boolean {
    return Math.max(this.#outgoing.length, this.#unanswered.size) >= this.#options.maxWaiting
  }

  #send(message: object): void {
    this.#outgoing.push(message)
    if (!this.#isPumping) void this.#pump()
  }

  /** Sends what waits, at the pace of the pipe, and with a pause whenever it took long. */
  async #pump(): Promise<void> {
    this.#isPumping = true
    let began = performance.now()
    for (let next = this.#outgoing.shift(); next; next = this.#outgoing.shift()) {
      const full = this.#channel.send(next)
      if (!full && performance.now() - began < maxTurn) continue
      await (full ? this.#roomAfter(full) : nextTurn())
      began = performance.now()
    }
    this.#isPumping = false
  }

  /** Resolves at the end of the channel, too. `Promise.race` with that would keep 600 bytes for each message until then. */
  #roomAfter(full: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      this.#endPause = resolve
      void full.then(resolve)
    })
  }

  #receive(message: unknown): void {
    const { call, args, id, to, value, error } = Object(message) as Record<string, unknown>
    if (typeof to === 'number') {
      // A late response: its call has timed out.
      this.#settle(to, ({ resolve, reject }) =>
        error === undefined ? resolve(value) : reject(new Error(String(error))),
      )
    } else if (typeof call === 'string' && Array.isArray(args)) {
      void this.#handle(call, args as never[], id)
    } else this.#options.report(`a message of the other process is not understood: its keys are ${keysOf(message)}`)
  }

  async #handle(call: string, args: never[], id: unknown): Promise<void> {
    try {
      const handler = this.#handlers.get(call)
      if (!handler) throw new Error(`${call} is not known here`)
      const value = await handler(...args)
      if (typeof id === 'number') this.#send({ to: id, value })
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      if (typeof id === 'number') this.#send({ to: id, error: words })
      else this.#options.report(`${call} failed: ${words}`)
    }
  }

  #settle(id: number, how: (waiting: PendingCall) => void): void {
    const waiting = this.#unanswered.get(id)
    if (!waiting) return
    this.#unanswered.delete(id)
    clearTimeout(waiting.timer)
    how(waiting)
  }

  #lose(): void {
    this.#isLost = true
    this.#outgoing.length = 0
    this.#endPause?.()
    for (const id of this.#unanswered.keys()) this.#settle(id, ({ reject }) => reject(this.#options.lostError()))
  }
}

/** Keys only: values may be personal data. */
const keysOf = (message: unknown) => Object.keys(Object(message) as object).join(', ') || 'none'

/** One end of a pipe between two processes. Messages survive JSON, arrive whole, once and in order, or not at all. */
export interface Channel {
  /**
   * Sends a message; on a lost channel it is dropped silently, because `lost` resolves.
   * @returns a promise when the pipe is full (backpressure): await it before the next message. It never rejects, and on a lost
   * channel it may never resolve
   */
  send(message: object): Promise<void> | undefined
  /** Called for each message, in order. Must be called before the first iteration of the event loop, or messages are missed. */
  onMessage(listener: (message: unknown) => void): void
  /** Resolves when the other end is gone, after its last message. */
  readonly lost: Promise<void>
}

/** What `process`, in a forked process, and a `ChildProcess`, in its parent, have in common. */
interface Peer {
  readonly connected: boolean
  send?(message: object, handle: undefined, options: undefined, sent: () => void): boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
}

/** The channel that `fork` makes. @param peer the forked process, or `process` itself in it */
export function channelTo(peer: Peer): Channel {
  return {
    send: (message) => {
      if (!peer.connected || !peer.send) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      // Without a callback a message that met a closing pipe would be an 'error' event, and end us.
      const isRoomy = peer.send(message, undefined, undefined, () => resolve())
      return isRoomy ? undefined : promise
    },
    onMessage: (listener) => void peer.on('message', listener),
    lost: new Promise((resolve) => {
      peer.once('disconnect', resolve)
      if (!peer.connected) resolve()
    }),
  }
}

/** Max length of a message in characters; the largest has `maxItemsPerMessage` users, about 300,000. */
const maxLength = 16_000_000

/**
 * A channel over a stream socket, a line of JSON for each message, for processes that do not start each other.
 * A longer message than any of ours, and one that is not JSON, close it.
 */
export function channelOver(socket: Socket): Channel {
  const listeners: ((message: unknown) => void)[] = []
  const deliver = (line: string) => {
    const message: unknown = JSON.parse(line)
    for (const listener of listeners) listener(message)
  }
  const lost = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  // It is lost then, which is all that matters.
  socket.on('error', () => {})
  return {
    send: (message) => {
      if (!socket.writable) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      const isRoomy = socket.write(`${JSON.stringify(message)}\n`, () => resolve())
      return isRoomy ? undefined : promise
    },
    onMessage: (listener) => {
      listeners.push(listener)
      if (listeners.length === 1) readLines(socket, deliver)
    },
    lost,
  }
}

/** Nothing is read before: a socket keeps what arrives until it is asked for. */
function readLines(socket: Socket, deliver: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  socket.on('data', (bytes: Buffer) => {
    const [...lines] = decoder.write(bytes).split('\n')
    lines[0] = rest + (lines[0] ?? '')
    rest = lines.pop() ?? ''
    try {
      for (const line of lines) deliver(line)
    } catch {
      socket.destroy()
    }
    if (rest.length > maxLength) socket.destroy()
  })
}
