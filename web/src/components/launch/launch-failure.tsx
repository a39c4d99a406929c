import { useId, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import { LogRegion } from '#/components/logs/log-region.tsx'
import { factsOf } from '#/launch/launch-failure-help.ts'
import { blocksOf, withoutBidiControls } from '#/containers/log-lines.ts'

interface LaunchFailureProps {
  error: unknown
  /** Lines are shown on demand: they would otherwise move what is below them. */
  isFolded?: boolean
}

/**
 * Details of a failed launch beside the sentence of the `Alert`: how its program ended, and the last lines of its
 * output.
 */
export function LaunchFailure({ error, isFolded = false }: LaunchFailureProps) {
  const t = useTranslations('dashboard.failure')
  const label = useId()
  if (!(error instanceof ApiError)) return null
  const { last_lines: lines = [] } = error.body
  const { isOutOfMemory, exitCode } = factsOf(error.body)
  const facts = [isOutOfMemory && t('outOfMemory'), exitCode !== undefined && t('exitCode', { code: String(exitCode) })]
  const sentences = facts.filter((fact) => fact !== false).join(' ')
  return (
    <>
      {sentences !== '' && <p className="hint">{sentences}</p>}
      {lines.length > 0 && (
        <Lines title={t('lines')} label={label} isFolded={isFolded}>
          <LogRegion labelledBy={label} blocks={blocksOf(lines.map(withoutBidiControls))} />
        </Lines>
      )}
    </>
  )
}

interface LinesProps {
  title: string
  /** Id of the title. */
  label: string
  isFolded: boolean
  children: ReactNode
}

function Lines({ title, label, isFolded, children }: LinesProps) {
  if (isFolded) {
    return (
      <details className="last-lines">
        <summary id={label}>{title}</summary>
        {children}
      </details>
    )
  }
  return (
    <div className="last-lines">
      <p id={label} className="hint">
        {title}
      </p>
      {children}
    </div>
  )
}
