import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SessionEntry } from '@berth/api/schemas/sessions.ts'
import { useTranslations } from 'use-intl/react'
import { canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Page } from '#/components/page/page.tsx'
import { AccountI18nProvider } from '#/i18n/account-i18n-provider.tsx'
import { SessionRow, TakeoverRow } from '#/components/sessions/session-rows.tsx'
import { focusHeading } from '#/router/focus-heading.ts'
import { serverNow } from '#/time/server-now.ts'

/** Poll interval in ms while the page is visible. */
const pause = 30_000

/** The user's own sessions, and takeovers of their account: what they can end, and what they should know. */
export function Sessions() {
  return (
    <AccountI18nProvider>
      <OwnSessions />
    </AccountI18nProvider>
  )
}

function OwnSessions() {
  const t = useTranslations('sessions')
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => (await createApiClient(signal).listSessions()).sessions,
    refetchInterval: pause,
  })
  const [endOne, endOthers, ended] = useEnding()
  const isOff = endOne.isPending || endOthers.isPending || !canAct()

  const own = query.data?.filter(({ taken_over_by }) => taken_over_by === null) ?? []
  const takeovers = query.data?.filter(({ taken_over_by }) => taken_over_by !== null) ?? []
  const rowOf = (session: SessionEntry) => ({
    session,
    isOff,
    onEnd: isOver(session) || session.is_current ? undefined : () => endOne.mutate(session.id),
  })

  return (
    <Page title={t('title')}>
      <p>{t('lead')}</p>
      <Alert error={endOne.error ?? endOthers.error ?? query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      <ul className="rows">
        {own.map((session) => (
          <SessionRow key={session.id} {...rowOf(session)} />
        ))}
      </ul>
      {query.data?.some((session) => !session.is_current && !isOver(session)) ? (
        <p className="actions with-hint">
          <Button isOff={isOff} onPress={() => endOthers.mutate()}>
            {t('others')}
          </Button>
          <span className="hint">{t('othersHint')}</span>
        </p>
      ) : (
        query.data && <p className="hint">{t('alone')}</p>
      )}
      <p role="status" className="visually-hidden">
        {ended > 0 && t('ended', { count: ended })}
      </p>
      {takeovers.length > 0 && (
        <section className="part" aria-labelledby="takeovers">
          <h2 id="takeovers">{t('takeovers')}</h2>
          <p>{t('takeoversLead')}</p>
          <ul className="rows">
            {takeovers.map((session) => (
              <TakeoverRow key={session.id} {...rowOf(session)} isOver={isOver(session)} />
            ))}
          </ul>
        </section>
      )}
    </Page>
  )
}

/** Ends one session or all others; counts those ended last. */
function useEnding() {
  const client = useQueryClient()
  const [ended, setEnded] = useState(0)
  const options = {
    onMutate: () => setEnded(0),
    onSuccess: (count: number) => {
      // The pressed button goes away with its session, so the focus moves first.
      focusHeading()
      setEnded(count)
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  }
  const endOne = useMutation({
    ...options,
    mutationFn: async (id: number) => {
      await createApiClient(new AbortController().signal).endSession({ params: { id: String(id) } })
      return 1
    },
  })
  const endOthers = useMutation({
    ...options,
    mutationFn: async () => (await createApiClient(new AbortController().signal).endOtherSessions()).ended,
  })
  return [endOne, endOthers, ended] as const
}

const isOver = ({ ended_at, expires_at }: SessionEntry) => ended_at !== null || Date.parse(expires_at) <= serverNow()
