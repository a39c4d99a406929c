import { useFormatter, useTranslations } from 'use-intl/react'
import { stageIn, stageShare, stageValues, stepsOf, type StageEvent } from '#/launch-words.ts'
import type { LaunchState } from '#/launches.ts'

/**
 * How far a launch is, as a list of steps with a bar under the present one; nothing when there is nothing to wait for. Not
 * read out by itself: numbers change all the time.
 */
export function StageProgress({ launch }: { launch: LaunchState | undefined }) {
  const t = useTranslations('dashboard')
  const sentenceOf = useStageSentence()
  const event = stageIn(launch?.event)
  if (!launch || !event) return null
  return (
    <ol className="steps" aria-label={t('stages.title')}>
      {stepsOf(event.stage, launch.seen).map(({ stage, state }) => (
        <li key={stage} className={`step ${state}`} aria-current={state === 'now' ? 'step' : undefined}>
          {state === 'now' ? (
            <>
              <p>{sentenceOf(event)}</p>
              <progress aria-label={t(`stages.${stage}`)} value={stageShare(event)} />
            </>
          ) : (
            <p>
              {t(`stages.${stage}`)}
              <span className="visually-hidden">, {t(`step.${state}`)}</span>
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}

/** Says a stage with its numbers; nothing for none. */
export function useStageSentence(): (event: StageEvent | undefined) => string {
  const t = useTranslations('dashboard.stage')
  const format = useFormatter()
  return (event) => (event ? t(event.stage, stageValues(event, format.number)) : '')
}
