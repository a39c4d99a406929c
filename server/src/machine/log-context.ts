import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Span, SpanAttributes, SpanKind } from '@berth/gateway/basics/tracer.ts'

interface RequestContext {
  readonly id: string | undefined
  /** What is being done for it; undefined without traces. */
  readonly span: Span | undefined
}

const context = new AsyncLocalStorage<RequestContext | undefined>()

/** Header that only the gateway sends; it drops a client's. */
const header = 'x-berth-request-id'

/** Header of every answer with the id of its request. */
export const requestIdHeader = 'x-request-id'

/** Id that the gateway gave a request; a new one for a request of another listener. */
export const requestIdFrom = (headers: Readonly<Record<string, string | string[] | undefined>>): string => {
  const sent = headers[header]
  return typeof sent === 'string' && sent !== '' ? sent : randomUUID()
}

/** Runs work, with all that it awaits, for a request: log lines carry its id. Undefined: for none. @param span what `traced` belongs to */
export function runForRequest<T>(id: string | null | undefined, work: () => T, span?: Span): T {
  // In JSON between the processes an argument that is left out is null.
  return context.run({ id: id ?? undefined, span }, work)
}

/**
 * Does work of a request as a span of its trace. Without traces, without a request, and after the end of what this is a part of,
 * the work alone is done.
 */
export async function traced<T>(
  name: string,
  kind: SpanKind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  const present = context.getStore()
  if (!present?.span || present.span.isOver) return work()
  const span = present.span.begin(name, kind, attributes)
  return endWith(span, () => runForRequest(present.id, work, span))
}

/** Header of requests that a span causes; none without traces. */
export function traceHeaders(): { traceparent?: string } {
  const { span } = context.getStore() ?? {}
  return span ? { traceparent: span.traceparent } : {}
}

/** Ends a span with the work that it stands for. */
export async function endWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  let isFailed = true
  try {
    const result = await work()
    isFailed = false
    return result
  } finally {
    span.end({ isFailed })
  }
}

/** Runs work that outlives the request that caused it, such as a loop: its log lines carry no id. */
export function runForNoRequest<T>(work: () => T): T {
  return context.run(undefined, work)
}

/** Fields that pino adds to every line (`mixin`). */
export function requestFields(): { request_id?: string; trace_id?: string } {
  const { id, span } = context.getStore() ?? {}
  return { ...(id && { request_id: id }), ...(span && { trace_id: span.traceId }) }
}
