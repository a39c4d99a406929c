import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminApiToken } from '@berth/api/schemas/api-tokens.ts'
import { ApiTokenFacts, isExpired } from '#/account/api-token-facts.tsx'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'
import { Field } from '#/components/field.tsx'
import { Link } from '#/components/link.tsx'
import { NextPageButton, pagedQuery } from '#/components/paged-list.tsx'
import { rich } from '#/components/rich.tsx'
import { pages } from '#/paths.ts'
import { navigate, useLocation } from '#/router/router.ts'
import { ActionDialog } from './action-dialog.tsx'
import { AdminPage, QueryError } from './admin-page.tsx'

/** API tokens of all users, or of one. */
export function Tokens() {
  const t = useTranslations('admin')
  const user = useLocation().query.get('user') ?? ''
  return (
    <AdminPage title={t('shell.tokens')}>
      <p className="hint about">{t('tokens.about')}</p>
      <OwnerFilter key={`filter ${user}`} user={user} />
      <List key={user} user={user} />
    </AdminPage>
  )
}

function List({ user }: { user: string }) {
  const t = useTranslations('admin.tokens')
  const query = useTokens(user)
  const tokens = query.data?.pages.flatMap((page) => page.tokens)
  return (
    <>
      <QueryError query={query} />
      {tokens?.length === 0 && <p>{user === '' ? t('none') : t('noneOf')}</p>}
      {tokens && tokens.length > 0 && (
        <ul className="rows" aria-label={t('list')}>
          {tokens.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </ul>
      )}
      <NextPageButton query={query} />
    </>
  )
}

/** An API token of any user, with a way to remove it. */
function TokenRow({ token }: { token: AdminApiToken }) {
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
        <ShortLabel text={t('remove.open')} name={t('remove.openThis', { name, email: user.email })} />
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
    <ActionDialog title={t('title', { name: token.name })} words={t} isGrave run={run} onClose={onClose}>
      <p>{t('effect', { email: token.user.email })}</p>
    </ActionDialog>
  )
}

/** Whose tokens are shown. The address of the page holds it. */
function OwnerFilter({ user }: { user: string }) {
  const t = useTranslations('admin.tokens.filter')
  return (
    <search>
      <form
        className="owner-filter"
        aria-label={t('title')}
        onSubmit={(event) => {
          event.preventDefault()
          const wanted = String(new FormData(event.currentTarget).get('user') ?? '').trim()
          navigate(addressOf(pages.adminTokens, { user: wanted }))
        }}
      >
        <Field label={t('user')} hint={t('userHint')}>
          {(control) => (
            <input {...control} name="user" defaultValue={user} maxLength={254} autoComplete="off" spellCheck={false} />
          )}
        </Field>
        <div className="actions">
          <button type="submit" className="button">
            {t('show')}
          </button>
          {user !== '' && (
            <Link to={pages.adminTokens} className="button muted">
              {t('clear')}
            </Link>
          )}
        </div>
      </form>
    </search>
  )
}

const pageSize = '50'

const tokensKey = ['admin', 'tokens']

/** API tokens of all users, or of one, page by page, newest first. @param user id or e-mail address; empty for all */
function useTokens(user: string) {
  return useInfiniteQuery(
    pagedQuery([...tokensKey, user], (after, signal) =>
      createApiClient(signal).listAllApiTokens({
        query: { limit: pageSize, ...(user !== '' && { user }), ...after },
      }),
    ),
  )
}
