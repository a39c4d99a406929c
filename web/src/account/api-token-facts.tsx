import { useTranslations } from 'use-intl/react'
import type { ApiToken } from '@berth/api/schemas/api-tokens.ts'
import { rich } from '#/components/rich.tsx'
import { Time, serverNow } from '#/time/time.tsx'

/** What is known of an API token beside its name: scopes, creation, end and last use. */
export function ApiTokenFacts({ token }: { token: ApiToken }) {
  const t = useTranslations('tokens')
  const { scopes, created_at, expires_at, last_used } = token
  const at = (instant: string) => ({ at: rich.inPlace(<Time at={instant} />) })
  return (
    <>
      <p className="hint scopes">{t('scopes', { scopes: scopes.join(', ') })}</p>
      <ul className="dotted hint">
        <li>{t.rich('created', at(created_at))}</li>
        <li>{t.rich(isExpired(token) ? 'ended' : 'ends', at(expires_at))}</li>
        <li>{last_used === null ? t('unused') : t.rich('used', at(last_used))}</li>
      </ul>
    </>
  )
}

/** Whether the API refuses it because of its age. */
export const isExpired = ({ expires_at }: ApiToken) => Date.parse(expires_at) <= serverNow()
