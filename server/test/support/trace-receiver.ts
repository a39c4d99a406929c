import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Lifetime } from './berth.ts'
import { serveHttp } from './serve-http.ts'

/** A span as OTLP has it in JSON, its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
  readonly attributes: Readonly<Record<string, string>>
  /** Attributes of what sent it. */
  readonly resource: Readonly<Record<string, string>>
}

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[]

interface Message {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'resource'> & { readonly attributes: Attributes })[]
    }[]
  }[]
}

export interface TraceReceiver {
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** Requests as they came. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined; readonly body: string }[]
  /** Status that it answers with. */
  status: number
}

/** A small receiver of OTLP over HTTP; it ends with the test. */
export async function startTraceReceiver(lifetime: Lifetime): Promise<TraceReceiver> {
  const receiver: Omit<TraceReceiver, 'url'> = { spans: [], requests: [], status: 200 }
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    receiver.requests.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    if (receiver.status === 200) receiver.spans.push(...spansOf(JSON.parse(body) as Message))
    response.writeHead(receiver.status, { 'content-type': 'application/json' }).end('{}')
  }
  const url = await serveHttp(
    lifetime,
    createServer((request, response) => void receive(request, response)),
  )
  return Object.assign(receiver, { url })
}

const spansOf = ({ resourceSpans }: Message): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({ ...span, attributes: byName(span.attributes), resource: byName(resource.attributes) })),
  )

const byName = (attributes: Attributes) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']))
