import { useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { LogRegion } from '#/components/logs/log-region.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'
import { useLogs, type Logs } from '#/containers/use-logs.ts'
import { blocksOf, textOf } from '#/containers/log-lines.ts'

interface LogsDialogProps {
  name: string
  type: string
  /** Called when the dialog has closed. */
  onClose(): void
}

/** The output of a container's program as it is written; as wide as the window allows. */
export function LogsDialog({ name, type, onClose }: LogsDialogProps) {
  const t = useTranslations('dashboard.logs')
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
            <Button variant="primary" onPress={close}>
              {t('close')}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

function Reading({ logs: { state, blocks, error }, title }: { logs: Logs; title: string }) {
  const t = useTranslations('dashboard.logs')
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
