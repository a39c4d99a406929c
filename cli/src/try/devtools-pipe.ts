import type { Readable, Writable } from 'node:stream'

/** An event of the browser, or of one of its pages, frames and workers. */
export interface DevtoolsEvent {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Undefined for the browser itself. */
  readonly sessionId: string | undefined
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly sessionId?: string
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** Timeout of one command, in ms. */
const commandTimeout = 30_000

/**
 * The Chrome DevTools Protocol over two pipes: messages are JSON, each with a zero byte behind it (chromium's
 * `--remote-debugging-pipe`). No port is opened that other accounts of the machine could use.
 */
export class DevtoolsPipe {
  readonly #output: Writable
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  readonly #listeners = new Set<(event: DevtoolsEvent) => void>()
  #lastId = 0
  #rest: Buffer[] = []
  #end: Error | undefined

  constructor(output: Writable, input: Readable) {
    this.#output = output
    output.on('error', (error) => this.close(error))
    input.on('data', (chunk: Buffer) => this.#read(chunk))
    input.on('error', (error) => this.close(error)).on('close', () => this.close(new Error('the browser has ended')))
  }

  /** @throws {Error} with the browser's words, when it does not answer in 30 s, and when it has ended */
  async send<T = unknown>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    if (this.#end) throw this.#end
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    const timer = setTimeout(() => reject(new Error(`the browser did not answer ${method}`)), commandTimeout)
    this.#output.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    try {
      return (await promise) as T
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  /** @returns ends it */
  listen(listener: (event: DevtoolsEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Every command that waits fails with the reason; so does every later one. */
  close(reason: Error): void {
    this.#end ??= reason
    for (const { reject } of this.#waiting.values()) reject(this.#end)
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString()
      this.#rest = []
      start = end + 1
      this.#handle(JSON.parse(message) as Message)
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start))
  }

  #handle({ id, method, params = {}, sessionId, result, error }: Message): void {
    if (id !== undefined) {
      const waiting = this.#waiting.get(id)
      return error ? waiting?.reject(new Error(error.message)) : waiting?.resolve(result)
    }
    if (method !== undefined) for (const listener of this.#listeners) listener({ method, params, sessionId })
  }
}
