import type { Share } from '@berth/api/schemas/features/sharing.ts'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { Time } from '#/components/time.tsx'
import { useTask } from '#/components/use-task.ts'
import { useSharesChanged } from './use-shares.ts'

interface ShareRowProps {
  share: Share
  isOff: boolean
  /** The visitor has the container open now. */
  isHere: boolean
  /** Called before the share is ended: the row goes away with the focus in it. */
  onEnd(): void
  /** @param name of the visitor or the group */
  onEnded(name: string): void
}

/** One share of the user's own container; one press ends it. */
export function ShareRow({ share, isOff, isHere, onEnd, onEnded }: ShareRowProps) {
  const t = useTranslations('sharing')
  const { busy, error, run } = useTask()
  const { id, container_type: type, email, group, asked_in: askedIn, may } = share
  const name = email ?? t('group', { name: group?.name ?? '' })
  const changed = useSharesChanged(type)

  function end() {
    onEnd()
    void run(async (signal) => {
      await createApiClient(signal).endShare({ params: { container_type: type, id: String(id) } })
      onEnded(name)
      await changed()
    })
  }
  return (
    <li className="row">
      <div>
        <h3 className="address">
          {name} {isHere && <span className="badge">{t('here')}</span>}
        </h3>
        <p className="hint">{t.rich(may, { at: rich.inPlace(<Time at={share.expires_at} />) })}</p>
        {askedIn && <p className="hint">{t('askedIn', { group: askedIn.name })}</p>}
        <Alert error={error} />
      </div>
      <Button variant="small" isOff={isOff || busy} onPress={end}>
        <span aria-hidden>{t('end')}</span>
        <span className="visually-hidden">{t('endThis', { name })}</span>
      </Button>
    </li>
  )
}
