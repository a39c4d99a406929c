import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { Berth } from './berth.ts'
import { pollUntil } from './control-plane.ts'

export interface ReceivedEvent {
  readonly name: string
  readonly data: Record<string, unknown>
  readonly id: string | undefined
}

/** An open stream of server-sent events. */
export interface OpenStream {
  readonly status: number
  readonly contentType: string
  readonly events: ReceivedEvent[]
  /** Each event in a line: its name, and the values of its data but `since` and `why`. */
  lines(): string[]
  /** Id of the last event that has one. */
  lastId(): string | undefined
  /** Everything that arrived, comments included. */
  text(): string
  /** Resolves when the server ended it. */
  readonly ended: Promise<unknown>
  close(): void
}

export interface StreamOptions {
  readonly path?: string
  /** As `EventSource` sends it when it comes back. */
  readonly lastId?: string | undefined
  /** Of the page, as `Accept-Language`. */
  readonly language?: string
}

/** Opens a stream as a page does, by default of what happens to one's containers. @param token of the listener */
export async function openStream(
  berth: Pick<Berth, 'url'>,
  token: string,
  { path = '/api/container/events', lastId, language }: StreamOptions = {},
): Promise<OpenStream> {
  const { hostname, port } = new URL(berth.url)
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
    ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    ...(language === undefined ? {} : { 'accept-language': language }),
  }
  const asked = request({ hostname, port, path, headers, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let [text, rest] = ['', '']
  const events: ReceivedEvent[] = []
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) events.push(...eventIn(block))
  })
  answer.on('error', () => undefined)
  asked.on('error', () => undefined)
  return {
    status: answer.statusCode ?? 0,
    contentType: answer.headers['content-type'] ?? '',
    events,
    lines: () => events.map(lineOf),
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id,
    text: () => text,
    ended: new Promise((resolve) => answer.once('close', resolve)),
    close: () => asked.destroy(),
  }
}

/** Why Berth stopped it, as its owner's page hears when it opens. @param token of the owner */
export async function stopReasonOf(berth: Pick<Berth, 'url'>, token: string, type = 'dev'): Promise<unknown> {
  const stream = await openStream(berth, token)
  const last = () => stream.events.findLast(({ name, data }) => name === 'container' && data.type === type)
  await pollUntil(
    () => last() !== undefined,
    () => stream.text(),
  )
  stream.close()
  return last()?.data.why
}

const lineOf = ({ name, data }: ReceivedEvent) =>
  [name, ...Object.entries(data).flatMap(([key, value]) => (key === 'since' || key === 'why' ? [] : [value]))].join(' ')

/** None in a comment, or where only the time to come back is said. */
function eventIn(block: string): ReceivedEvent[] {
  const [, id, name, data] = /^(?:id: (.+)\n)?event: (.+)\ndata: (.+)$/.exec(block) ?? []
  return name && data ? [{ id, name, data: JSON.parse(data) as Record<string, unknown> }] : []
}
