import { useId, type ReactNode } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import { Button } from '#/components/button.tsx'
import { blocksOf, withoutBidiControls } from '#/containers/log-lines.ts'
import { LogRegion } from '#/containers/log-region.tsx'
import {
  factsOf,
  stageIn,
  stageShare,
  stageValues,
  stages,
  stepState,
  type LaunchState,
  type StageEvent,
} from './launch-state.ts'

interface LaunchProgressProps {
  /** What events have reported of the launch; undefined before the first. */
  launch: LaunchState | undefined
  /** Shown until a stage is known. */
  otherwise: string
}

/**
 * The progress of a launch: a bar, and the current stage below it. The space of two lines is reserved for the stage, so
 * that nothing moves while it changes. Not announced: numbers change all the time.
 */
export function LaunchProgressBar({ launch, otherwise }: LaunchProgressProps) {
  const t = useTranslations('dashboard')
  const sentenceOf = useStageSentence()
  const event = stageIn(launch?.event)
  return (
    <div className="stage">
      <progress
        aria-label={event ? t(`stages.${event.stage}`) : t('stages.title')}
        value={event && stageShare(event)}
      />
      <p>
        {sentenceOf(event) || otherwise}
        {event?.usual_seconds !== undefined && event.stage !== 'pulling' && (
          <span className="hint"> · {t('usually', { seconds: String(event.usual_seconds) })}</span>
        )}
      </p>
    </div>
  )
}

/** All steps from the beginning on: a step that is inserted later would move the others. */
export function LaunchSteps({ launch }: Pick<LaunchProgressProps, 'launch'>) {
  const t = useTranslations('dashboard')
  const now = stageIn(launch?.event)?.stage
  return (
    <ol className="steps" aria-label={t('stages.title')}>
      {stages.map((stage) => {
        const state = stepState(stage, now)
        return (
          <li key={stage} className={`step ${state}`} aria-current={state === 'now' ? 'step' : undefined}>
            {t(`stages.${stage}`)}
            {state !== 'now' && <span className="visually-hidden">, {t(`step.${state}`)}</span>}
          </li>
        )
      })}
    </ol>
  )
}

/** Returns a stage's sentence with its numbers; empty for no stage. */
export function useStageSentence(): (event: StageEvent | undefined) => string {
  const t = useTranslations('dashboard.stage')
  const format = useFormatter()
  return (event) => (event ? t(event.stage, stageValues(event, format.number)) : '')
}

/** Announces the automatic opening, and offers to cancel it. */
export function AutoOpenNote({ onStay }: { onStay(): void }) {
  const t = useTranslations('dashboard.autoOpen')
  return (
    <div className="auto-open" data-launching>
      <p role="status">{t('text')}</p>
      <Button variant="small" onPress={onStay}>
        {t('stay')}
      </Button>
    </div>
  )
}

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
