import { useEffect, useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { fillPath } from '@berth/api/client.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { followStream, type ServerEvent } from '#/events/event-stream.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { logs as words } from '#/messages/card-dialogs.ts'
import { addLines, blocksOf, linesIn, textOf, type Block } from './log-lines.ts'
import { LogRegion } from './log-region.tsx'

interface LogsDialogProps {
  name: string
  type: string
  /** Called when the dialog has closed. */
  onClose(): void
}

/** The output of a container's program as it is written; as wide as the window allows. */
export const LogsDialog = withTexts({ logs: words }, Logs)

function Logs({ name, type, onClose }: LogsDialogProps) {
  const t = useTranslations('logs')
  const title = t('title', { name })
  const logs = useLogs(type)
  const isOver = logs.state === 'ended' || logs.state === 'refused'
  return (
    <Dialog title={title} variant="wide" onClose={onClose}>
      {(close) => (
        <>
          <Reading logs={logs} title={title} />
          <div className="actions end">
            {isOver && <Button onPress={logs.restart}>{t('again')}</Button>}
            <EndButton word="close" variant="primary" onPress={close} />
          </div>
        </>
      )}
    </Dialog>
  )
}

function Reading({ logs: { state, blocks, error }, title }: { logs: Logs; title: string }) {
  const t = useTranslations('logs')
  const label = useId()
  const wrap = useId()
  const [isFollowing, setFollowing] = useState(true)
  const [isWrapped, setWrapped] = useState(true)
  const [copied, setCopied] = useState('')
  const shown = useRef<HTMLDivElement>(null)
  const count = blocks.reduce((sum, { lines }) => sum + lines.length, 0)

  async function copyAll() {
    const isCopied = await copyToClipboard(textOf(blocks), shown.current)
    setCopied(isCopied ? t('copied', { count }) : t('notCopied'))
  }

  const isEmpty = count === 0 && state === 'open'
  const status = state === 'open' && !isFollowing ? 'scrolledUp' : state
  return (
    <>
      <p role="status" className="hint live">
        {status !== 'refused' && t(status)}
      </p>
      <Alert error={error} />
      <span id={label} hidden>
        {title}
      </span>
      <div ref={shown}>
        <LogRegion
          labelledBy={label}
          blocks={isEmpty ? blocksOf([t('empty')]) : blocks}
          isWrapped={isWrapped}
          onFollow={setFollowing}
        />
      </div>
      <div className="log-tools">
        <label htmlFor={wrap} className="check-line">
          <input id={wrap} type="checkbox" checked={isWrapped} onChange={(event) => setWrapped(event.target.checked)} />
          {t('wrap')}
        </label>
        <Button variant="small" isOff={count === 0} onPress={() => void copyAll()}>
          {t('copy')}
        </Button>
        <span role="status" className="hint live">
          {copied}
        </span>
      </div>
    </>
  )
}

/** Past lines that are requested. */
const pastLines = 200
/** Max rate of rendering, in ms: an app may write a thousand lines a second. */
const throttleMs = 100

/** State of the stream: not open yet, open, lost for now, at its end, or refused. */
type LogState = 'opening' | 'open' | 'lost' | 'ended' | 'refused'

interface Logs {
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
function useLogs(type: string): Logs {
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
