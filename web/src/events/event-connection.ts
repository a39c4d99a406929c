import { ApiError } from '@berth/api/client.ts'
import { abortableDelay } from '#/api/abortable-delay.ts'
import { followStream, type Bookmark, type ServerEvent } from '#/events/event-stream.ts'

/** Delay before a refused stream is requested again, in ms: a block can be lifted, and nothing else reports that. */
export const refusedRetryDelay = 30_000

/** Requests the stream. @param lastId of the last event received @throws {ApiError} when the server refuses it */
export type OpenStream = (lastId: string | undefined, signal: AbortSignal) => Promise<Response>

/** Callbacks of a connection. None is called after its signal has aborted, except `onLost` and `onRefused`. */
export interface ConnectionListener {
  onOpen(): void
  onEvents(events: readonly ServerEvent[]): void
  onLost(): void
  /** The server refused the stream; `onLost` follows. */
  onRefused(isAccountBlocked: boolean): void
  /** @param ahead how far the server's clock is ahead of this one, in ms, to about a second */
  onClock(ahead: number): void
}

/** Keeps the event stream open until the signal aborts: reconnects when it breaks, and retries slowly while it is refused. */
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
