import { useEffect, useState } from 'react'
import { fillPath } from '@berth/api/client.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { followStream, type ServerEvent } from '#/events/event-stream.ts'
import { addLines, linesIn, type Block } from '#/containers/log-lines.ts'

/** Past lines that are requested. */
const pastLines = 200
/** Max rate of rendering, in ms: an app may write a thousand lines a second. */
const throttleMs = 100

/** State of the stream: not open yet, open, lost for now, at its end, or refused. */
export type LogState = 'opening' | 'open' | 'lost' | 'ended' | 'refused'

export interface Logs {
  readonly state: LogState
  /** Oldest first. */
  readonly blocks: readonly Block[]
  /** Why it was refused. */
  readonly error: unknown
  /** Starts again from the beginning. */
  restart(): void
}

const nothing = { state: 'opening', blocks: [], error: undefined } as const satisfies Partial<Logs>

/** The output of a container: its last lines, and each new one. */
export function useLogs(type: string): Logs {
  const [seen, setSeen] = useState<Omit<Logs, 'restart'>>(nothing)
  const [attempt, setAttempt] = useState(0)

  useEffect(() => {
    const reading = new AbortController()
    let waiting: string[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (state: LogState) => {
      clearTimeout(timer)
      timer = undefined
      const came = waiting
      waiting = []
      setSeen((before) => ({ ...before, state, blocks: addLines(before.blocks, came) }))
    }
    const reader = {
      open: (_lastId: string | undefined, signal: AbortSignal) => openStream(pathOf(type), undefined, signal),
      // The stream has no replay: each connection begins with the past lines.
      onOpen: () => setSeen({ ...nothing, state: 'open' }),
      onLost: () => show('lost'),
      onEvents: (events: readonly ServerEvent[]) => {
        waiting.push(...linesIn(events))
        if (!events.some(({ name }) => name === 'end')) return void (timer ??= setTimeout(show, throttleMs, 'open'))
        show('ended')
        reading.abort()
      },
    }
    followStream(reader, reading.signal).catch((error: unknown) =>
      setSeen((before) => ({ ...before, state: 'refused', error })),
    )
    return () => {
      reading.abort()
      clearTimeout(timer)
    }
  }, [type, attempt])

  const restart = () => {
    setSeen(nothing)
    setAttempt((count) => count + 1)
  }
  return { ...seen, restart }
}

const pathOf = (type: string) =>
  `${fillPath(endpoints.containerLogs.path, { container_type: type })}?lines=${pastLines}`
