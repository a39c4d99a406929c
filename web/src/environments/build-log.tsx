import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { endpoints } from '@berth/api/endpoints.ts'
import { fillPath } from '@berth/api/client.ts'
import { openStream } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'

interface BuildLogProps {
  name: string
  version: number
}

/** Output of a build: what there is, and what comes while it is built. */
export function BuildLog({ name, version }: BuildLogProps) {
  const t = useTranslations('environments')
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>()
  const box = useRef<HTMLDivElement>(null)

  useEffect(() => {
    const reading = new AbortController()
    let all = ''
    readLog(name, version, reading.signal, (piece) => setText((all += piece))).catch((reason: unknown) => {
      if (!reading.signal.aborted) setError(reason)
    })
    return () => reading.abort()
  }, [name, version])

  // The end is what matters, unless the reader has scrolled up.
  useEffect(() => {
    const element = box.current
    if (element && element.scrollHeight - element.scrollTop - element.clientHeight < 200)
      element.scrollTop = element.scrollHeight
  }, [text])

  return (
    <>
      <Alert error={error} />
      <div
        ref={box}
        className="build-log"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region needs a tab stop
        tabIndex={0}
        role="region"
        aria-label={t('logOf', { version: String(version), name })}
      >
        <pre>{text === '' ? t('logEmpty') : text}</pre>
      </div>
    </>
  )
}

async function readLog(
  name: string,
  version: number,
  signal: AbortSignal,
  onText: (piece: string) => void,
): Promise<void> {
  const path = fillPath(endpoints.readBuildLog.path, { name, version: String(version) })
  const { body } = await openStream(path, undefined, signal)
  if (!body) throw new Error('the log has no body')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) onText(part.value)
}
