import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { SentEvent } from '#/containers/user-events.ts'

/** Heartbeat interval, in ms: proxies close a connection without traffic after a minute. */
const heartbeat = 25_000
/** Buffered bytes of a slow reader from which the sender should wait (backpressure). */
const highWaterMark = 16 * 1024
/** Max buffered bytes for a sender that does not wait; then the stream ends, and the browser opens another. */
const maxBuffered = 64 * 1024
/** After how many ms it is asked again whether a stream may go on, when that failed. */
const retryExtension = 10_000
/** Delay before a browser reconnects, in ms. */
const retry = 2_000

/** Sends events to the client. Its methods never throw, also after the client has disconnected. */
export interface EventSink {
  /**
   * Resolves when there is room for more, or the stream has ended. A sender that does not wait loses clients that are
   * too slow.
   */
  send(events: readonly SentEvent[]): Promise<void>
  /** Events that were sent are still delivered. */
  end(): void
}

/** Answer of a stream's handler. */
export interface EventStream {
  /** End of the client's access. */
  readonly endsAt: Date
  /** Asked at `endsAt`, and at each answer: until when it may be read after all. It ends when that is over. */
  readonly extendedTo?: (() => Promise<Date>) | undefined
  /**
   * Begins to send. @returns ends that: called once, when the client disconnects or the stream ends
   * @throws {Refusal} when it may not begin
   */
  begin(sink: EventSink): () => void
}

/** Answers with server-sent events until the client disconnects, its access ends, or the source ends the stream. */
export function sendEventStream(reply: FastifyReply, { endsAt, extendedTo, begin }: EventStream): FastifyReply {
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
  // A client that receives data needs no heartbeat.
  const beat = setInterval(() => body.readableLength > 0 || write(': still here\n\n'), heartbeat)
  // A longer delay would make the timer fire at once.
  let last: NodeJS.Timeout
  const endAt = (at: number) => {
    last = setTimeout(expire, Math.max(0, Math.min(at - Date.now(), 2 ** 31 - 1)))
  }
  const expire = async () => {
    // A store that fails decides nothing.
    const until = await extendedTo?.().catch(() => new Date(Date.now() + retryExtension))
    if (isOver) return
    if (until === undefined || until.getTime() <= Date.now()) end()
    else endAt(until.getTime())
  }
  endAt(endsAt.getTime())
  stop = () => {
    clearInterval(beat)
    clearTimeout(last)
    stopSource()
  }
  // The source may have ended the stream already.
  if (isOver) stop()
  body.once('close', end)
  return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(body)
}

/** Source: HTML standard, 9.2.6, Interpreting an event stream. */
const lines = ({ id, name, data }: SentEvent) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
