import { useEffect, useState } from 'react'
import { fillPath } from '@berth/api/client.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api.ts'
import { follow } from '#/event-stream.ts'
import { addLines } from '#/log-text.ts'

/** Lines of the past that are asked for. */
const past = 200

/** How the reading goes: not begun, going on, broken off for now, all read, or refused. */
export type LogState = 'opening' | 'open' | 'lost' | 'ended' | 'refused'

export interface Logs {
  readonly state: LogState
  /** Oldest first. */
  readonly lines: readonly string[]
  /** Why it was refused. */
  readonly error: unknown
  /** Begins anew. */
  again(): void
}

const nothing = { state: 'opening', lines: [], error: undefined } as const satisfies Partial<Logs>

/** What a container writes: its last lines, and each new one. */
export function useLogs(type: string): Logs {
  const [seen, setSeen] = useState<Omit<Logs, 'again'>>(nothing)
  const [attempt, setAttempt] = useState(0)

  useEffect(() => {
    const reading = new AbortController()
    const path = `${fillPath(endpoints.containerLogs.path, { container_type: type })}?lines=${past}`
    const reader = {
      open: (_lastId: string | undefined, signal: AbortSignal) => openStream(path, undefined, signal),
      // The stream has no memory: each time it begins with the lines of the past.
      onOpen: () => setSeen({ ...nothing, state: 'open' }),
      onLost: () => setSeen((before) => ({ ...before, state: 'lost' })),
      onEvents: (events: Parameters<typeof addLines>[1]) => {
        const isEnd = events.some(({ name }) => name === 'end')
        setSeen((before) => ({
          ...before,
          state: isEnd ? 'ended' : 'open',
          lines: addLines(before.lines, events),
        }))
        if (isEnd) reading.abort()
      },
    }
    follow(reader, reading.signal).catch((error: unknown) =>
      setSeen((before) => ({ ...before, state: 'refused', error })),
    )
    return () => reading.abort()
  }, [type, attempt])

  const again = () => {
    setSeen(nothing)
    setAttempt((count) => count + 1)
  }
  return { ...seen, again }
}
