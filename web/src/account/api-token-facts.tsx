import { useTranslations } from 'use-intl/react'
import type { ApiToken } from '@berth/api/schemas/api-tokens.ts'
import { rich } from '#/components/rich.tsx'
import { serverNow } from '#/time/time.tsx'

/** What is known of an API token beside its name: scopes, creation, end and last use. */
export function ApiTokenFacts({ token }: { token: ApiToken }) {
  const t = useTranslations('tokens')
  const { scopes, created_at, expires_at, last_used } = token
  return (
    <>
      <p className="hint scopes">{t('scopes', { scopes: scopes.join(', ') })}</p>
      <ul className="dotted hint">
        <li>{t.rich('created', { at: rich.time(created_at) })}</li>
        <li>{t.rich(isExpired(token) ? 'ended' : 'ends', { at: rich.time(expires_at) })}</li>
        <li>{last_used === null ? t('unused') : t.rich('used', { at: rich.time(last_used) })}</li>
      </ul>
    </>
  )
}

/** Whether the API refuses it because of its age. */
export const isExpired = ({ expires_at }: ApiToken) => Date.parse(expires_at) <= serverNow()
