import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { ApiTokenRow } from '#/components/api-tokens/api-token-row.tsx'
import { CreateApiTokenForm } from '#/components/api-tokens/create-api-token-form.tsx'
import { CreatedApiToken } from '#/components/api-tokens/created-api-token.tsx'
import { Page } from '#/components/page/page.tsx'
import { AccountI18nProvider } from '#/i18n/account-i18n-provider.tsx'
import { rich } from '#/components/rich.tsx'
import { pages } from '#/paths.ts'
import { focusHeading } from '#/router/focus-heading.ts'
import { useMe } from '#/session/use-me.ts'
import '#/styles/account/api-tokens.css'

const queryKey = ['api-tokens']

/** The user's own API tokens: a list with a way to remove each, and a form for a new one. */
export function ApiTokens() {
  return (
    <AccountI18nProvider>
      <OwnApiTokens />
    </AccountI18nProvider>
  )
}

function OwnApiTokens() {
  const t = useTranslations('tokens')
  const me = useMe()
  const client = useQueryClient()
  const [created, setCreated] = useState<string>()
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await createApiClient(signal).listApiTokens()).tokens,
  })
  const removal = useRemoval()
  const isOwner = boot.acting === null

  function show(token: string | undefined) {
    setCreated(token)
    if (token === undefined) focusHeading()
    else void client.invalidateQueries({ queryKey })
  }

  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <p>{t.rich('docs', { docs: rich.link(pages.apiDocs) })}</p>
      {created !== undefined && <CreatedApiToken token={created} onDone={() => show(undefined)} />}
      <Alert error={removal.error ?? query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      {query.data?.length === 0 && <p>{t('none')}</p>}
      <ul className="rows">
        {query.data?.map((token) => (
          <ApiTokenRow
            key={token.id}
            token={token}
            isOff={removal.isPending || !canAct()}
            onRemove={isOwner ? () => removal.mutate(token.id) : undefined}
          />
        ))}
      </ul>
      <p role="status" className="visually-hidden">
        {removal.isSuccess && t('removed')}
      </p>
      <section className="part" aria-labelledby="new-token">
        <h2 id="new-token">{t('create.title')}</h2>
        {isOwner ? (
          // Empty again after each token.
          <CreateApiTokenForm
            key={created}
            isAdministrator={me?.is_admin ?? boot.isAdmin}
            isOff={!canAct()}
            onCreated={show}
          />
        ) : (
          <p className="note">{t('create.notNow')}</p>
        )}
      </section>
    </Page>
  )
}

/** Removes a token of the user and looks at the list again, also after a refusal: another tab may have removed it. */
function useRemoval() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: number) =>
      createApiClient(new AbortController().signal).removeApiToken({ params: { id: String(id) } }),
    // The pressed button goes away with its row, so the focus must leave it first.
    onSuccess: () => focusHeading(),
    onSettled: () => client.invalidateQueries({ queryKey }),
  })
}
