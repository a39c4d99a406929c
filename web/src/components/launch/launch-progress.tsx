import { useFormatter, useTranslations } from 'use-intl/react'
import { stageIn, stages, stageShare, stageValues, stepState, type StageEvent } from '#/launch/launch-stages.ts'
import type { LaunchState } from '#/launch/launch-state.ts'
import { Button } from '#/components/button.tsx'

interface LaunchProgressProps {
  /** What was told of the launch; of one that was only asked for nothing yet. */
  launch: LaunchState | undefined
  /** Said until a stage is known. */
  otherwise: string
}

/**
 * How far a launch is: a bar, and the present stage below it. The bar is above the words, and room is kept for two lines of
 * them, so that nothing moves while they change. Not read out by itself: numbers change all the time.
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

/** All steps that there are, from the beginning on: one that were put in between later would move the others. */
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

/** Says a stage with its numbers; nothing for none. */
export function useStageSentence(): (event: StageEvent | undefined) => string {
  const t = useTranslations('dashboard.stage')
  const format = useFormatter()
  return (event) => (event ? t(event.stage, stageValues(event, format.number)) : '')
}

/** Says beforehand that the page will be left, and how it will not. */
export function AutoOpenNote({ onStay }: { onStay(): void }) {
  const t = useTranslations('dashboard.autoOpen')
  return (
    <div className="auto-open" data-launching>
      <p role="status">{t('text')}</p>
      <Button look="small" onPress={onStay}>
        {t('stay')}
      </Button>
    </div>
  )
}
