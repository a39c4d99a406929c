import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { QueryError } from '#/admin/query-error.tsx'
import { OwnerFilter } from '#/admin/tokens/owner-filter.tsx'
import { TokenRow } from '#/admin/tokens/token-row.tsx'
import { useTokens } from '#/admin/tokens/use-tokens.ts'
import { NextPageButton } from '#/components/next-page-button.tsx'
import { useLocation } from '#/router/router.ts'

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
      <NextPageButton query={query} fetching={t('loadingMore')}>
        {t('more')}
      </NextPageButton>
    </>
  )
}
