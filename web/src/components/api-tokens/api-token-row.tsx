import { useState } from 'react'
import type { ApiToken } from '@berth/api/schemas/api-tokens.ts'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { ApiTokenFacts, isExpired } from './api-token-facts.tsx'

interface ApiTokenRowProps {
  token: ApiToken
  /** Undefined where it cannot be removed. */
  onRemove: (() => void) | undefined
  isOff: boolean
}

/** One of the user's own API tokens. */
export function ApiTokenRow({ token, onRemove, isOff }: ApiTokenRowProps) {
  const t = useTranslations('tokens')
  const [isAsking, setAsking] = useState(false)
  return (
    <li className="row">
      <div>
        <h2 className="address">
          {token.name} {isExpired(token) && <span className="badge">{t('expired')}</span>}
        </h2>
        <ApiTokenFacts token={token} />
      </div>
      {onRemove && (
        <Button variant="small" isOff={isOff} onPress={() => setAsking(true)}>
          <span aria-hidden>{t('remove')}</span>
          <span className="visually-hidden">{t('removeThis', { name: token.name })}</span>
        </Button>
      )}
      {isAsking && onRemove && (
        <Dialog title={t('ask.title', { name: token.name })} onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p>{t('ask.effect')}</p>
              <ConfirmActions cancel={t('ask.cancel')} confirm={t('remove')} close={close} onConfirm={onRemove} />
            </>
          )}
        </Dialog>
      )}
    </li>
  )
}
