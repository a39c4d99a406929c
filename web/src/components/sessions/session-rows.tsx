import type { SessionEntry } from '@berth/api/schemas/sessions.ts'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { Button } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { Time } from '#/components/time.tsx'
import { providerName } from '#/session/provider-name.ts'

interface RowProps {
  session: SessionEntry
  isOff: boolean
  /** Undefined where the session cannot be ended. */
  onEnd: (() => void) | undefined
}

/** One session of the signed-in user. */
export function SessionRow({ session, isOff, onEnd }: RowProps) {
  const t = useTranslations('sessions')
  const { browser, is_current, address, created_at, last_used, expires_at, began } = session
  const provider = providerName(began, boot.signIn.providers)
  const [, program, system] = /^(.+) on (.+)$/.exec(browser ?? '') ?? []
  const named = program && system ? t('browserOn', { browser: program, system }) : browser
  const name = named ?? t('unknown')
  return (
    <li className="row">
      <div>
        <h2>
          {name} {is_current && <span className="badge good">{t('current')}</span>}
        </h2>
        <ul className="dotted hint">
          <li>{t.rich('since', { since: rich.inPlace(<Time at={created_at} />) })}</li>
          <li>{provider === undefined ? t('byLink') : t('began', { provider })}</li>
          <li>{t.rich('used', { used: rich.inPlace(<Time at={last_used} />) })}</li>
          {address !== '' && <li className="address">{t('from', { address })}</li>}
          <li>{t.rich('until', { until: rich.inPlace(<Time at={expires_at} />) })}</li>
        </ul>
      </div>
      <End name={name} isOff={isOff} onEnd={onEnd} />
    </li>
  )
}

/** A takeover of the user's account: who, why, and when. */
export function TakeoverRow({ session, isOff, isOver, onEnd }: RowProps & { isOver: boolean }) {
  const t = useTranslations('sessions')
  const { taken_over_by, reason, created_at, ended_at, expires_at } = session
  const name = t(isOver ? 'acted' : 'acts', { by: taken_over_by ?? '' })
  const from = rich.inPlace(<Time at={created_at} />)
  const to = rich.inPlace(<Time at={ended_at ?? expires_at} />)
  return (
    <li className="row">
      <div>
        <h3 className="address">{name}</h3>
        {reason !== null && <p className="address">{t('reason', { reason })}</p>}
        <p className="hint">
          {isOver ? t.rich('span', { from, to }) : t.rich('untilThen', { since: from, until: to })}
        </p>
      </div>
      <End name={name} isOff={isOff} onEnd={onEnd} />
    </li>
  )
}

function End({ name, isOff, onEnd }: { name: string; isOff: boolean; onEnd: (() => void) | undefined }) {
  const t = useTranslations('sessions')
  if (onEnd === undefined) return null
  return (
    <Button variant="small" isOff={isOff} onPress={onEnd}>
      <span aria-hidden>{t('end')}</span>
      <span className="visually-hidden">{t('endThis', { name })}</span>
    </Button>
  )
}
