import { randomBytes } from 'node:crypto'
import { request as plainRequest } from './bind.ts'

/**
 * Spans of OpenTelemetry, sent as JSON over HTTP (OTLP 1.x, opentelemetry.io/docs/specs/otlp). Ours: see "Traces"
 * in gateway/README.md. Loaded only where traces are on.
 */

const { request: tlsRequest } = process.getBuiltinModule('node:https')

/** Where spans go. */
export interface TracingSettings {
  /** Base URL of the receiver; `/v1/traces` is added. */
  readonly endpoint: string
  /** Headers of each request to it; they may be secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  /** Part of the traces that begin here which is sent, 0 to 1. A trace that began elsewhere is sent if it is sampled there. */
  readonly ratio: number
}

export type SpanKind = 'internal' | 'server' | 'client'

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>

/** Place in a trace (W3C Trace Context, Level 1). */
interface SpanContext {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

/** Numbers of the protocol (opentelemetry/proto/trace/v1/trace.proto). */
const kinds = { internal: 1, server: 2, client: 3 } as const
const failedStatus = { code: 2 }

/** As the SDKs have them: spans that wait at most, spans of one request, and how long spans wait, in ms. */
const [maxWaiting, maxBatch, flushEvery] = [2_048, 512, 5_000]
/** How long the receiver may take to answer, in ms. */
const sendTimeout = 10_000

const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

/** Reads the header `traceparent`; undefined when it has another form, and a new trace begins (W3C Trace Context, 3.2.2). */
export function readTraceparent(text: string | null | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = form.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (text?.startsWith('00') && text.length !== 55) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Work of a trace, from `begin` to `end`. */
export class Span {
  readonly #tracer: Tracer
  readonly #context: SpanContext
  readonly #parentId: string | undefined
  readonly #kind: SpanKind
  readonly #attributes: SpanAttributes
  readonly #begun = performance.now()
  readonly name: string
  #isOver = false

  constructor(tracer: Tracer, name: string, kind: SpanKind, attributes: SpanAttributes, parent?: SpanContext) {
    this.#tracer = tracer
    this.name = name
    this.#kind = kind
    this.#attributes = attributes
    this.#parentId = parent?.spanId
    this.#context = {
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled: parent ? parent.isSampled : tracer.samples(),
    }
  }

  get traceId(): string {
    return this.#context.traceId
  }

  /** Value of the header `traceparent` for requests that this span causes. */
  get traceparent(): string {
    const { traceId, spanId, isSampled } = this.#context
    return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  }

  /** What is begun afterwards is no part of its work. */
  get isOver(): boolean {
    return this.#isOver
  }

  begin(name: string, kind: SpanKind, attributes: SpanAttributes): Span {
    return new Span(this.#tracer, name, kind, attributes, this.#context)
  }

  /** Once; more attributes than at its beginning may be known, and a better name. */
  end({ name = this.name, isFailed = false, ...more }: SpanEnd = {}): void {
    if (this.#isOver) return
    this.#isOver = true
    if (!this.#context.isSampled) return
    const { traceId, spanId } = this.#context
    this.#tracer.add(this.#begun, performance.now(), {
      traceId,
      spanId,
      ...(this.#parentId !== undefined && { parentSpanId: this.#parentId }),
      name,
      kind: kinds[this.#kind],
      attributes: attributeList({ ...this.#attributes, ...more.attributes }),
      ...(isFailed && { status: failedStatus }),
    })
  }
}

export interface SpanEnd {
  readonly name?: string
  readonly attributes?: SpanAttributes
  readonly isFailed?: boolean
}

/** Begins spans, and sends those that have ended. Never delays work: what does not fit, or is not taken, is dropped and counted. */
export class Tracer {
  readonly #settings: TracingSettings
  readonly #process: string
  readonly #report: (problem: string) => void
  #ended: object[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #dropped = 0
  #isFailing = false
  #clockOffset = Date.now() - performance.now()

  /** @param process which of Berth's processes this is @param report called once when the receiver begins to fail */
  constructor(settings: TracingSettings, process: 'gateway' | 'api', report: (problem: string) => void) {
    this.#settings = settings
    this.#process = process
    this.#report = report
  }

  /** @param traceparent of what causes it, as a header or an RPC has it; without one a trace begins */
  begin(name: string, kind: SpanKind, attributes: SpanAttributes, traceparent?: string | null): Span {
    return new Span(this, name, kind, attributes, readTraceparent(traceparent))
  }

  /** Whether a trace that begins now is sent. */
  samples(): boolean {
    return this.#settings.ratio >= 1 || Math.random() < this.#settings.ratio
  }

  /** Takes a span that has ended. @param begun, ended by `performance.now()` */
  add(begun: number, ended: number, span: object): void {
    if (this.#ended.length >= maxWaiting) return void this.#dropped++
    this.#ended.push({ ...span, startTimeUnixNano: this.#unixNano(begun), endTimeUnixNano: this.#unixNano(ended) })
    if (this.#ended.length >= maxBatch) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), flushEvery).unref()
  }

  /** Sends all that waits, a request after the other. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
    return this.#sending
  }

  /** Spans that were dropped, for `/metrics`. */
  counts(): Readonly<Record<string, number>> {
    return { [`berth_spans_dropped_total{process="${this.#process}"}`]: this.#dropped }
  }

  async #sendAll(): Promise<void> {
    // A clock that was set shows in the next spans.
    this.#clockOffset = Date.now() - performance.now()
    while (this.#ended.length > 0) {
      const batch = this.#ended.splice(0, maxBatch)
      const problem = await this.#send(batch)
      if (problem !== undefined) this.#dropped += batch.length
      if (problem !== undefined && !this.#isFailing) this.#report(`spans cannot be sent: ${problem}`)
      this.#isFailing = problem !== undefined
    }
  }

  /** @returns what went wrong */
  #send(spans: readonly object[]): Promise<string | undefined> {
    const { endpoint, headers, serviceName } = this.#settings
    const resource = { attributes: attributeList({ 'service.name': serviceName, 'berth.process': this.#process }) }
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'berth' }, spans }] }] })
    const url = new URL(`${endpoint}/v1/traces`)
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const request = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.timeout(sendTimeout),
    })
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
    request.on('response', (response) => {
      const { statusCode = 0 } = response
      const settle = () => resolve(statusCode >= 200 && statusCode < 300 ? undefined : `status ${statusCode}`)
      response.on('error', settle).on('end', settle).resume()
    })
    request.end(body)
    return promise
  }

  /** Microseconds are as exact as the clock is; a number would not hold all digits. */
  #unixNano(at: number): string {
    return `${Math.round((this.#clockOffset + at) * 1_000)}000`
  }
}

const attributeList = (attributes: SpanAttributes) =>
  Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return []
    // A 64-bit number is text in the JSON of protocol buffers.
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }]
  })
