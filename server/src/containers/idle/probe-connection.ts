import { connect, type OnReadOpts, type Socket } from 'node:net'
import { connectTls } from '@berth/gateway/basics/app-tls.ts'
import { BodyReader } from '@berth/gateway/http1/body-reader.ts'
import { isFault, NotableNames } from '@berth/gateway/http1/header-lines.ts'
import { headText, maxResponseHead, readResponseHead, untilClose } from '@berth/gateway/http1/response-head.ts'

/** Where an application listens. */
export interface AppAddress {
  readonly host: string
  readonly port: number
  /** Its certificate is not checked. */
  readonly usesTls: boolean
}

/** Status and value of an answer of JSON. */
export interface JsonAnswer {
  readonly status: number
  /** Undefined where the status is another than 200. */
  readonly value: unknown
}

/** Max time of one exchange, in ms; a question has three at most. */
const exchangeTimeout = 5_000
/** Max bytes of an answer that are read; Jupyter needs about 250 for a kernel. */
const maxBody = 256 * 1024
/** Max reads for a head: with each the one before is copied and searched again. Applications send it in one or two. */
const maxHeadReads = 64
const framing = new NotableNames(['content-length', 'transfer-encoding', 'connection'])
/** What is read is taken before the next read, so that all connections share it; made with the first of them. */
let memory: Buffer | undefined

/**
 * GETs of JSON from one application, all of a question sent at once (RFC 9112, 9.3.2). Without `node:http`, which takes twice the CPU
 * time: each running container is asked every minute, and a connection more costs most of that. One question at a time.
 */
export class ProbeConnection {
  #socket: Socket | undefined
  /** Of the socket. */
  #address: AppAddress | undefined
  /** Takes what is read; undefined while nothing is asked. */
  #reader: AnswerReader | undefined
  #done: (() => void) | undefined

  /**
   * @param isKept whether the connection stays open for the next question. Not for an application that counts its connections as
   *   use, or that serves one at a time
   * @returns the answers in the order of the targets; those that are missing, and all behind one that is none, are left out. Never rejects
   */
  async get(app: AppAddress, targets: readonly string[], isKept: boolean): Promise<readonly JsonAnswer[]> {
    const isUsedAgain = this.#isTo(app)
    let answers = await this.#exchange(app, targets, isKept)
    // The application may have ended a kept connection before it saw the question.
    if (answers.length === 0 && isUsedAgain) answers = await this.#exchange(app, targets, isKept)
    if (answers.length === 0 || answers.length === targets.length) return answers
    // A server that ends each connection after one answer, as those of HTTP/1.0 do.
    return [...answers, ...(await this.#exchange(app, targets.slice(answers.length), isKept))]
  }

  /** What is asked has no answer then. */
  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#done?.()
  }

  #isTo({ host, port, usesTls }: AppAddress): boolean {
    const to = this.#socket && this.#address
    return to !== undefined && to.host === host && to.port === port && to.usesTls === usesTls
  }

  async #exchange(app: AppAddress, targets: readonly string[], isKept: boolean): Promise<readonly JsonAnswer[]> {
    const socket = this.#socketTo(app)
    const { promise, resolve } = Promise.withResolvers<void>()
    const reader = new AnswerReader(targets.length)
    this.#reader = reader
    this.#done = resolve
    const limit = setTimeout(resolve, exchangeTimeout)
    limit.unref()
    // Sent once it is connected.
    socket.write(requests(app, targets, isKept), 'latin1')
    await promise
    clearTimeout(limit)
    this.#reader = undefined
    if (!isKept || !reader.isReusable) this.close()
    return reader.answers
  }

  #socketTo(app: AppAddress): Socket {
    if (this.#socket && this.#isTo(app)) return this.#socket
    this.close()
    const onread: OnReadOpts = {
      buffer: () => (memory ??= Buffer.allocUnsafeSlow(64 * 1024)),
      callback: (length, bytes) => {
        if (socket === this.#socket) this.#take((bytes as Buffer).subarray(0, length))
        return true
      },
    }
    const { host, port } = app
    const socket = app.usesTls ? connectTls(app, { onread }) : connect({ host, port, onread })
    socket.unref()
    for (const end of ['end', 'error', 'close'] as const) socket.on(end, () => this.#ended(socket))
    this.#socket = socket
    this.#address = app
    return socket
  }

  #take(bytes: Buffer): void {
    // Nothing was asked that this could be an answer to.
    if (!this.#reader) this.close()
    else if (this.#reader.take(bytes)) this.#done?.()
  }

  #ended(socket: Socket): void {
    if (socket !== this.#socket) return
    this.#reader?.end()
    this.close()
  }
}

function requests({ host, port }: AppAddress, targets: readonly string[], isKept: boolean): string {
  const name = host.includes(':') ? `[${host}]` : host
  const request = (target: string, at: number) =>
    `GET ${target} HTTP/1.1\r\nHost: ${name}:${port}\r\nAccept: application/json\r\n${!isKept && at === targets.length - 1 ? 'Connection: close\r\n' : ''}\r\n`
  return targets.map(request).join('')
}

/** Reads answers one after the other, up to the limits. */
class AnswerReader {
  readonly answers: JsonAnswer[] = []
  /** Whether another question may follow on the connection. */
  isReusable = false
  readonly #wanted: number
  /** What came of a head that is not whole. */
  #rest: Buffer | undefined
  /** Reads of this head so far. */
  #reads = 0
  #status = 0
  #body: BodyReader | undefined
  #isUntilClose = false
  #staysOpen = false
  #parts: Buffer[] = []
  #length = 0
  #isOver = false
  #headEnd = 0

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  /** @param bytes that change after the call @returns whether nothing more is wanted */
  take(bytes: Buffer): boolean {
    let left: Buffer | undefined = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes
    this.#rest = undefined
    while (left) {
      const body: BodyReader | undefined = this.#body ?? this.#head(left)
      if (!body) return this.#isOver
      if (!this.#body) {
        this.#body = body
        left = left.subarray(this.#headEnd)
      }
      const stop = body.read(left, 0, left.length)
      this.#keep(left.subarray(0, body.isUnchunking ? body.dataEnd : body.forwardableEnd))
      if (body.problem || this.#isOver) return (this.#isOver = true)
      if (!body.isDone) return false
      if (!this.#finish()) return true
      const isLast = this.answers.length === this.#wanted
      this.isReusable = isLast && this.#staysOpen && stop === left.length
      if (isLast) return true
      left = stop < left.length ? left.subarray(stop) : undefined
    }
    return false
  }

  /** The connection has ended, which ends an answer that does not say how long it is. */
  end(): void {
    if (this.#isUntilClose && !this.#isOver) this.#finish()
  }

  /** @returns undefined when the head is not whole, or is none */
  #head(bytes: Buffer): BodyReader | undefined {
    const text = headText(bytes, 0, Math.min(bytes.length, maxResponseHead))
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) {
      this.#rest = Buffer.from(bytes)
      this.#isOver = bytes.length >= maxResponseHead || ++this.#reads > maxHeadReads
      return undefined
    }
    this.#reads = 0
    const head = readResponseHead(text.slice(0, end + 4), framing, false)
    this.#isOver = isFault(head) || head.status < 200
    if (isFault(head) || this.#isOver) return undefined
    this.#headEnd = end + 4
    this.#status = head.status
    this.#isUntilClose = head.bodyLength === untilClose
    this.#staysOpen = head.isReusable
    return new BodyReader(head.bodyLength, true)
  }

  #keep(data: Buffer): void {
    this.#length += data.length
    this.#isOver = this.#length > maxBody
    if (data.length > 0) this.#parts.push(Buffer.from(data))
  }

  /** @returns false for what is not JSON */
  #finish(): boolean {
    const text = this.#parts.length === 1 ? String(this.#parts[0]) : Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#length = 0
    this.#body = undefined
    this.#isUntilClose = false
    try {
      this.answers.push({
        status: this.#status,
        value: this.#status === 200 ? (JSON.parse(text) as unknown) : undefined,
      })
      return true
    } catch {
      return false
    }
  }
}
