import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** What the way to the engine does to those who use it. */
export type EngineVice =
  | { readonly kind: 'refused' }
  /** @param calls those that are meant; without it all */
  | { readonly kind: 'slow'; readonly delay: number; readonly calls?: RegExp }
  /** No answer; what was asked for is done once the fault is over, when no client waits for it any more. */
  | { readonly kind: 'hanging'; readonly calls?: RegExp }
  /** Done, but of the answer only half arrives. */
  | { readonly kind: 'cut' }
  /** The engine's own refusal at some calls. `isDone`: it was done all the same. */
  | { readonly kind: 'status'; readonly status: number; readonly calls: RegExp; readonly isDone: boolean }

/** Stands where Berth expects the engine's socket, and passes everything on to the real one, unless it has a vice. */
export class FaultProxy {
  readonly #engine: string
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'berth-proxy-'))
  #server: Server | undefined
  #vice: EngineVice | undefined
  /** Continue what hangs. */
  #hanging: (() => void)[] = []
  readonly #events = new Set<ServerResponse>()
  /** Requests that were harmed. */
  harmed = 0

  private constructor(engine: string) {
    this.#engine = engine
  }

  /** @param engine the real one, `unix:///path` */
  static async begin(engine: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(engine.replace(/^unix:\/\//, ''))
    await proxy.#listen()
    return proxy
  }

  /** For `DOCKER_HOST`. */
  get address(): string {
    return `unix://${this.#socket}`
  }

  get #socket(): string {
    return path.join(this.#folder, 'engine.sock')
  }

  /** From now on, until `mend`. */
  async harm(vice: EngineVice): Promise<void> {
    this.#vice = vice
    if (vice.kind === 'refused') await this.#stopListening()
  }

  async mend(): Promise<void> {
    this.#vice = undefined
    if (!this.#server) await this.#listen()
    for (const go of this.#hanging.splice(0)) go()
  }

  /** Ends every stream of events that is open. */
  dropEvents(): void {
    for (const response of this.#events) response.destroy()
  }

  async close(): Promise<void> {
    await this.#stopListening()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #listen(): Promise<void> {
    const server = createServer((asked, answer) => this.#serve(asked, answer))
    server.requestTimeout = 0
    server.listen(this.#socket)
    await once(server, 'listening')
    this.#server = server
  }

  /** New connections are refused from now on, and open ones are cut. */
  async #stopListening(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  #serve(asked: IncomingMessage, answer: ServerResponse): void {
    answer.on('error', () => answer.destroy())
    const vice = this.#vice
    if (!vice || ('calls' in vice && !vice.calls?.test(`${asked.method} ${asked.url}`)))
      return this.#pass(asked, answer)
    this.harmed++
    if (vice.kind === 'slow') setTimeout(() => this.#pass(asked, answer), vice.delay)
    else if (vice.kind === 'hanging') this.#hanging.push(() => this.#pass(asked, answer))
    else if (vice.kind === 'cut') this.#pass(asked, answer, true)
    else if (vice.kind === 'status') this.#refuse(asked, answer, vice)
    else this.#pass(asked, answer)
  }

  #pass(asked: IncomingMessage, answer: ServerResponse, isCut = false): void {
    const { method, url: target, headers } = asked
    const passed = request({ socketPath: this.#engine, method, path: target, headers }, (got) => {
      // The client was killed before the answer began: no process reads it, so the engine would wait for ever, as below.
      if (answer.destroyed) return passed.destroy()
      if (!answer.headersSent) answer.writeHead(got.statusCode ?? 502, got.headers)
      if (isCut) return cut(got, answer)
      if (target?.includes('/events')) this.#keep(answer)
      got.on('error', () => answer.destroy())
      got.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    // Who does not wait any more takes an answer along that has begun, such as events or an archive: without its end the engine
    // waits to write the rest for ever, and holds the container that long. Before an answer the engine goes on with what it does.
    answer.on('close', () => {
      const isUnfinished = answer.headersSent && !answer.writableFinished
      if (target?.includes('/events') || isUnfinished) passed.destroy()
    })
    // An engine sees the end of a connection whose body has not come whole.
    asked.on('close', () => asked.complete || passed.destroy())
    asked.pipe(passed)
  }

  #keep(answer: ServerResponse): void {
    this.#events.add(answer)
    answer.flushHeaders()
    answer.on('close', () => this.#events.delete(answer))
  }

  #refuse(
    asked: IncomingMessage,
    answer: ServerResponse,
    { status, isDone }: { status: number; isDone: boolean },
  ): void {
    const say = () => {
      answer.writeHead(status, { 'content-type': 'application/json' })
      answer.end(JSON.stringify({ message: 'a fault of the test' }))
    }
    if (!isDone) {
      asked.resume()
      return say()
    }
    const { method, url: target, headers } = asked
    const done = request({ socketPath: this.#engine, method, path: target, headers }, (got) =>
      got.resume().on('close', say),
    )
    done.on('error', () => answer.destroy())
    asked.pipe(done)
  }
}

function cut(got: IncomingMessage, answer: ServerResponse): void {
  got.once('data', (chunk: Buffer) => {
    answer.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => answer.destroy())
    got.resume()
  })
  got.once('end', () => answer.destroy())
}
