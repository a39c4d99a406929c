import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { SentEvent } from '#/containers/events/event-replay-buffer.ts'

/** Between two signs of life, in ms: proxies end what is silent for a minute. */
const heartbeat = 25_000
/** From how many bytes that wait for a slow reader on whoever sends should wait, too. */
const highWaterMark = 16 * 1024
/** What may wait for a reader of a source that does not wait, in bytes; then the stream ends, and the browser opens another. */
const maxBuffered = 64 * 1024
/** When a browser opens the stream again, in ms. */
const retry = 2_000

/** The way to whoever reads. Nothing in it throws, also after the reader has gone. */
export interface EventSink {
  /** Resolves when there is room for more, or the stream is over. Who does not wait loses a reader who is too slow. */
  send(events: readonly SentEvent[]): Promise<void>
  /** What was sent still arrives. */
  end(): void
}

/** What the handler of a stream answers with. */
export interface EventStream {
  /** When whoever opened it may not read any more. */
  readonly endsAt: Date
  /**
   * Begins to send. @returns what ends that: called once, when the reader has gone or the stream ends
   * @throws {Refusal} when it may not begin
   */
  begin(sink: EventSink): () => void
}

/** Answers with server-sent events until the reader goes, the stream's time is over, or its source ends it. */
export function sendEventStream(reply: FastifyReply, { endsAt, begin }: EventStream): FastifyReply {
  let room: PromiseWithResolvers<void> | undefined
  let stop: (() => void) | undefined
  let isOver = false
  const makeRoom = () => {
    room?.resolve()
    room = undefined
  }
  const body = new Readable({ highWaterMark, read: makeRoom })

  const write = (text: string) => isOver || body.push(text)
  const end = () => {
    if (isOver) return
    isOver = true
    stop?.()
    makeRoom()
    if (!body.destroyed) body.push(null)
  }
  const send = async (events: readonly SentEvent[]) => {
    if (body.readableLength > maxBuffered) end()
    const hasRoom = events.length === 0 || write(events.map(lines).join(''))
    if (!hasRoom) await (room ??= Promise.withResolvers()).promise
  }

  write(`retry: ${retry}\n\n`)
  const stopSource = begin({ send, end })
  // A reader to whom something is on its way needs no sign of life.
  const beat = setInterval(() => body.readableLength > 0 || write(': still here\n\n'), heartbeat)
  // A longer time than this makes a timer fire at once.
  const last = setTimeout(end, Math.min(endsAt.getTime() - Date.now(), 2 ** 31 - 1))
  stop = () => {
    clearInterval(beat)
    clearTimeout(last)
    stopSource()
  }
  // Its source may have been at its end at once.
  if (isOver) stop()
  body.once('close', end)
  return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(body)
}

/** Source: HTML standard, 9.2.6, Interpreting an event stream. */
const lines = ({ id, name, data }: SentEvent) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
