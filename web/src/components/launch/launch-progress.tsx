import { useFormatter, useTranslations } from 'use-intl/react'
import { stageIn, stages, stageShare, stageValues, stepState, type StageEvent } from '#/launch/launch-stages.ts'
import type { LaunchState } from '#/launch/launch-state.ts'
import { Button } from '#/components/button.tsx'

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
      <p>{sentenceOf(event) || otherwise}</p>
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
