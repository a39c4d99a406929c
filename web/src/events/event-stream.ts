import { ApiError } from '@berth/api/client.ts'

/** One server-sent event; its data is JSON. */
export interface ServerEvent {
  readonly name: string
  readonly data: unknown
}

/** What somebody does with a stream. Nothing is called after its signal has aborted. */
export interface StreamReader {
  /** Asks for the stream. @param lastId of the event that was heard last @throws {ApiError} when it was refused */
  open(lastId: string | undefined, signal: AbortSignal): Promise<Pick<Response, 'body'>>
  /** It is there, perhaps again. */
  onOpen?(): void
  /** What came together. */
  onEvents(events: readonly ServerEvent[]): void
  /** It broke off, and is asked for again by itself. */
  onLost?(): void
}

/** Where a stream was left: what came after that is told when it is followed again. */
export interface Bookmark {
  lastId?: string | undefined
}

/** How long until a stream that broke off is asked for again, in ms; longer each time that it does not help. */
export const retryDelays = { first: 1_000, max: 30_000 } as const
/** The server gives a sign of life every 25 s. A connection that has been silent for longer is dead, and nobody has said so; in ms. */
const maxSilence = 60_000

/**
 * Follows a stream until the signal aborts, and comes back to it when it breaks off.
 * @param bookmark where to begin; kept up to date
 * @throws {ApiError} when it was refused for a reason that waiting does not mend
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
    await abortableDelay(delay, signal)
    delay = Math.min(delay * 2, retryDelays.max)
  }
}

/** @param onSign something came @throws whatever ended it */
async function readOnce(reader: StreamReader, signal: AbortSignal, bookmark: Bookmark, onSign: () => void) {
  const connection = new AbortController()
  const either = AbortSignal.any([signal, connection.signal])
  try {
    const { body } = await reader.open(bookmark.lastId, either)
    if (either.aborted) return
    reader.onOpen?.()
    for await (const text of blocksOf(body, connection)) {
      if (either.aborted) return
      onSign()
      const blocks = text.map(parse)
      bookmark.lastId = blocks.findLast(({ id }) => id !== undefined)?.id ?? bookmark.lastId
      reader.onEvents(blocks.flatMap(({ name, data }) => (name === undefined ? [] : [{ name, data }])))
    }
  } finally {
    connection.abort()
  }
}

/** Whole blocks, those that came together in one list. Ends, or throws, when the connection does. */
async function* blocksOf(
  body: Response['body'],
  connection: AbortController,
): AsyncGenerator<readonly string[], void, void> {
  if (!body) return
  const chunks = body
    .pipeThrough<string>(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let rest = ''
  for (;;) {
    const timer = setTimeout(() => connection.abort(), maxSilence)
    const { done, value } = await chunks.read().finally(() => clearTimeout(timer))
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop() ?? ''
    if (blocks.length > 0) yield blocks
  }
}

interface Block {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly data: unknown
}

/** Our own server writes one line for each field. Source: HTML standard, 9.2.6. */
function parse(block: string): Block {
  const fields = new Map(block.split('\n').map((line) => [/^[^:]*/.exec(line)?.[0], line.replace(/^[^:]*: ?/, '')]))
  const data = fields.get('data')
  return { id: fields.get('id'), name: fields.get('event'), data: data === undefined ? undefined : JSON.parse(data) }
}

/** Signed out, blocked, unknown: asking again changes nothing. Too many streams, and a Berth that is being started, pass. */
const isFinal = (error: unknown) => error instanceof ApiError && error.status < 500 && error.status !== 429

/** Waits so long, or until the signal aborts. */
export const abortableDelay = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
