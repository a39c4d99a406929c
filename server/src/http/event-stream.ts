import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Listener, PersonalEvent } from '#/containers/events.ts'

/** Between two signs of life, in ms: proxies end what is silent for a minute. */
const heartbeat = 25_000
/** What may wait for a slow reader, in bytes; then the stream ends, and the browser opens another. */
const mostWaiting = 64 * 1024
/** When a browser opens the stream again, in ms. */
const retry = 2_000

/** What the handler of a stream answers with. */
export interface EventStream {
  /** When whoever opened it may not listen any more. */
  readonly endsAt: Date
  /** Begins to tell the listener. @returns what ends that @throws {Refusal} when it may not begin */
  subscribe(listener: Listener): () => void
}

/** Answers with server-sent events until the listener goes, the stream's end comes, or its source ends it. */
export function sendEventStream(reply: FastifyReply, stream: EventStream): FastifyReply {
  const body = new Readable({ read: () => undefined })
  const write = (text: string) => {
    if (body.readableLength > mostWaiting) end()
    else body.push(text)
  }
  const end = () => void body.push(null)
  const unsubscribe = stream.subscribe({ onEvent: (event) => write(lines(event)), onEnd: end })
  const beat = setInterval(() => write(': still here\n\n'), heartbeat)
  // A longer time than this makes a timer fire at once.
  const last = setTimeout(end, Math.min(stream.endsAt.getTime() - Date.now(), 2 ** 31 - 1))
  body.once('close', () => {
    unsubscribe()
    clearInterval(beat)
    clearTimeout(last)
  })
  write(`retry: ${retry}\n\n`)
  return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(body)
}

const lines = ({ name, data }: PersonalEvent) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
