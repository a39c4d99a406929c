import { useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl/react'
import { connectivity } from '#/api/connectivity.ts'

/** Says that Berth cannot be reached, for as long as that is so. What the page shows stays: it is better than nothing. */
export function ConnectivityNote() {
  const t = useTranslations('frame.connectivity')
  const state = useSyncExternalStore(connectivity.subscribe, () => connectivity.state)
  return (
    <div role="status" className="live">
      {state === 'reachable' ? (
        connectivity.wasUnreachable && <span className="visually-hidden">{t('back')}</span>
      ) : (
        <p className="unreachable">{t(state)}</p>
      )}
    </div>
  )
}
