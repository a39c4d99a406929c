import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { Berth } from './berth.ts'

/** An open stream of `GET /api/container/events`. */
export interface OpenStream {
  readonly status: number
  readonly contentType: string
  /** Every event so far: name and data. */
  readonly events: { name: string; data: Record<string, unknown> }[]
  /** Everything that arrived, comments included. */
  text(): string
  /** Resolves when the server ended it. */
  readonly ended: Promise<unknown>
  close(): void
}

/** Opens a stream as a page does. @param token of whoever listens */
export async function openStream(berth: Berth, token: string): Promise<OpenStream> {
  const { hostname, port } = new URL(berth.url)
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  const asked = request({ hostname, port, path: '/api/container/events', headers, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  const events: OpenStream['events'] = []
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    events.splice(0, Infinity, ...eventsIn(text))
  })
  answer.on('error', () => undefined)
  asked.on('error', () => undefined)
  return {
    status: answer.statusCode ?? 0,
    contentType: answer.headers['content-type'] ?? '',
    events,
    text: () => text,
    ended: new Promise((resolve) => answer.once('close', resolve)),
    close: () => asked.destroy(),
  }
}

function eventsIn(text: string): OpenStream['events'] {
  const blocks = text.split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? []
    return name && data ? [{ name, data: JSON.parse(data) as Record<string, unknown> }] : []
  })
}
