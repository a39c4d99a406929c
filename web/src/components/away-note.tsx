import { useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl/react'
import { reach } from '#/reaching.ts'

/** Says that Berth cannot be reached, for as long as that is so. What the page shows stays: it is better than nothing. */
export function AwayNote() {
  const t = useTranslations('frame.away')
  const state = useSyncExternalStore(reach.subscribe, () => reach.state)
  return (
    <div role="status" className="live">
      {state === 'reachable' ? (
        reach.wasAway && <span className="visually-hidden">{t('back')}</span>
      ) : (
        <p className="away">{t(state)}</p>
      )}
    </div>
  )
}
