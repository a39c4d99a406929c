import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { AdminApiToken } from '@berth/api/schemas/api-tokens.ts'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { ApiTokenFacts, isExpired } from '#/components/api-tokens/api-token-facts.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { pages } from '#/paths.ts'
import { tokensKey } from './use-tokens.ts'

/** An API token of any user, with a way to remove it. */
export function TokenRow({ token }: { token: AdminApiToken }) {
  const t = useTranslations('admin.tokens')
  const own = useTranslations('tokens')
  const [isAsking, setAsking] = useState(false)
  const { name, user } = token
  const owner = (
    <Link to={addressOf(pages.adminTokens, { user: user.email })} className="address">
      {user.email}
    </Link>
  )
  return (
    <li className="row">
      <div>
        <h2 className="address">
          {name} {isExpired(token) && <span className="badge">{own('expired')}</span>}
        </h2>
        <p className="owner">{t.rich('owner', { user: rich.inPlace(owner) })}</p>
        <ApiTokenFacts token={token} />
      </div>
      <Button variant="small" onPress={() => setAsking(true)}>
        <span aria-hidden>{t('remove.open')}</span>
        <span className="visually-hidden">{t('remove.openThis', { name, email: user.email })}</span>
      </Button>
      {isAsking && <RemoveDialog token={token} onClose={() => setAsking(false)} />}
    </li>
  )
}

function RemoveDialog({ token, onClose }: { token: AdminApiToken; onClose: () => void }) {
  const t = useTranslations('admin.tokens.remove')
  const client = useQueryClient()
  const { notify } = useBulkJobs()
  async function run(signal: AbortSignal) {
    const { message } = await createApiClient(signal).revokeApiToken({ params: { id: String(token.id) } })
    notify({ title: message })
    await client.invalidateQueries({ queryKey: tokensKey })
  }
  return (
    <ActionDialog
      title={t('title', { name: token.name })}
      confirm={t('confirm')}
      busy={t('busy')}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>{t('effect', { email: token.user.email })}</p>
    </ActionDialog>
  )
}
