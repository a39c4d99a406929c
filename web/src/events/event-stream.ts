import { createParser } from 'eventsource-parser'
import { ApiError } from '@berth/api/client.ts'
import { abortableDelay, anySignal } from '#/api/retry.ts'

/** One server-sent event; its data is JSON. */
export interface ServerEvent {
  readonly name: string
  readonly data: unknown
}

/** Opens a stream and consumes its events. None of the callbacks is called after its signal has aborted. */
interface StreamReader {
  /** Requests the stream. @param lastId of the last event received @throws {ApiError} when the server refuses it */
  open(lastId: string | undefined, signal: AbortSignal): Promise<Pick<Response, 'body'>>
  /** The stream is open, for the first time or after a reconnection. */
  onOpen?(): void
  /** @param events of one chunk, in order; not empty */
  onEvents(events: readonly ServerEvent[]): void
  /** The connection is lost; it is opened again automatically. */
  onLost?(): void
}

/** Id of the last event received: the server resends what came after it. */
export interface Bookmark {
  lastId?: string | undefined
}

/** Exponential backoff between reconnections, in ms. */
export const retryDelays = { first: 1_000, max: 30_000 } as const
/**
 * What is left of a delay at least: a restart of the server ends all streams at once, and they must not come back at
 * once.
 */
const minShare = 0.5
/**
 * Without data for so long a connection counts as dead, in ms, also before its answer begins. The server sends a
 * heartbeat every 25 s.
 */
const heartbeatTimeout = 60_000

/**
 * Follows a stream until the signal aborts, and reconnects when the connection is lost.
 * @param bookmark where to begin; kept up to date
 * @throws {ApiError} when the server refuses the stream for a reason that does not pass by itself
 */
export async function followStream(reader: StreamReader, signal: AbortSignal, bookmark: Bookmark = {}): Promise<void> {
  let delay: number = retryDelays.first
  while (!signal.aborted) {
    try {
      await readOnce(reader, signal, bookmark, () => (delay = retryDelays.first))
    } catch (error) {
      if (isFinal(error) && !signal.aborted) throw error
    }
    if (signal.aborted) return
    reader.onLost?.()
    await abortableDelay(delay * (minShare + (1 - minShare) * Math.random()), signal)
    delay = Math.min(delay * 2, retryDelays.max)
  }
}

/** Reads one connection until it ends. @param onData is called for each chunk @throws whatever ended the connection */
async function readOnce(reader: StreamReader, signal: AbortSignal, bookmark: Bookmark, onData: () => void) {
  const connection = new AbortController()
  const either = anySignal(signal, connection.signal)
  const received: ServerEvent[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      bookmark.lastId = id ?? bookmark.lastId
      if (event !== undefined) received.push({ name: event, data: JSON.parse(data) })
    },
  })
  try {
    const late = setTimeout(() => connection.abort(), heartbeatTimeout)
    const { body } = await reader.open(bookmark.lastId, either).finally(() => clearTimeout(late))
    if (either.aborted) return
    reader.onOpen?.()
    for await (const chunk of textChunks(body, connection)) {
      if (either.aborted) return
      onData()
      parser.feed(chunk)
      if (received.length > 0) reader.onEvents(received.splice(0))
    }
  } finally {
    connection.abort()
  }
}

/** Aborts the connection when no chunk arrives for `heartbeatTimeout`. Ends, or throws, when the connection does. */
async function* textChunks(body: Response['body'], connection: AbortController): AsyncGenerator<string, void, void> {
  if (!body) return
  const chunks = body
    .pipeThrough<string>(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  for (;;) {
    const timer = setTimeout(() => connection.abort(), heartbeatTimeout)
    const { done, value } = await chunks.read().finally(() => clearTimeout(timer))
    if (done) return
    yield value
  }
}

/**
 * Signed out, blocked, unknown: a retry changes nothing. Too many streams (429) and a server that is starting (503)
 * pass.
 */
const isFinal = (error: unknown) => error instanceof ApiError && error.status < 500 && error.status !== 429

/** Delay before a refused stream is requested again, in ms: a block can be lifted, and nothing else reports that. */
export const refusedRetryDelay = 30_000

/** Requests the stream. @param lastId of the last event received @throws {ApiError} when the server refuses it */
export type OpenStream = (lastId: string | undefined, signal: AbortSignal) => Promise<Response>

/** Callbacks of a connection. None is called after its signal has aborted, except `onLost` and `onRefused`. */
interface ConnectionListener {
  onOpen(): void
  onEvents(events: readonly ServerEvent[]): void
  onLost(): void
  /** The server refused the stream; `onLost` follows. */
  onRefused(isAccountBlocked: boolean): void
  /** @param ahead how far the server's clock is ahead of this one, in ms, to about a second */
  onClock(ahead: number): void
}

/**
 * Keeps the event stream open until the signal aborts: reconnects when it breaks, and retries slowly while it is
 * refused.
 */
export async function followEvents(
  open: OpenStream,
  listener: ConnectionListener,
  bookmark: Bookmark,
  signal: AbortSignal,
): Promise<void> {
  const reader = {
    open: (lastId: string | undefined, either: AbortSignal) => openMeasuringClock(open, listener, lastId, either),
    onOpen: () => listener.onOpen(),
    onEvents: (events: readonly ServerEvent[]) => listener.onEvents(events),
    onLost: () => listener.onLost(),
  }
  while (!signal.aborted) {
    await followStream(reader, signal, bookmark).catch((error: unknown) => {
      listener.onRefused(error instanceof ApiError && error.refusal === 'userBlocked')
      listener.onLost()
    })
    await abortableDelay(refusedRetryDelay, signal)
  }
}

async function openMeasuringClock(
  open: OpenStream,
  { onClock }: ConnectionListener,
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const answer = await open(lastId, signal)
  const there = Date.parse(answer.headers.get('date') ?? '')
  // The header has whole seconds: half a second is the best estimate of the rest.
  if (!Number.isNaN(there) && !signal.aborted) onClock(there + 500 - Date.now())
  return answer
}
