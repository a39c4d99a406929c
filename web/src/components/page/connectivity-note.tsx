import { useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl/react'
import { connectivity } from '#/api/connectivity.ts'

/** Says that Berth cannot be reached, while that is so. The page's content stays. */
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
