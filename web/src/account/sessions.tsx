import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { SessionEntry } from '@berth/api/schemas/sessions.ts'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { rich } from '#/components/rich.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { sessions } from '#/messages/account.ts'
import { Page } from '#/page/page.tsx'
import { focusHeading } from '#/router/router.ts'
import { serverNow } from '#/time/time.tsx'
import { providerName } from './provider-name.ts'

/** Poll interval in ms while the page is visible. */
const pause = 30_000

/** The user's own sessions, and takeovers of their account: what they can end, and what they should know. */
export const Sessions = withTexts({ sessions }, OwnSessions)

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
      <QueryState query={query} failure={endOne.error ?? endOthers.error} />
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

interface RowProps {
  session: SessionEntry
  isOff: boolean
  /** Undefined where the session cannot be ended. */
  onEnd: (() => void) | undefined
}

/** One session of the signed-in user. */
function SessionRow({ session, isOff, onEnd }: RowProps) {
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
          <li>{t.rich('since', { since: rich.time(created_at) })}</li>
          <li>{provider === undefined ? t('byLink') : t('began', { provider })}</li>
          <li>{t.rich('used', { used: rich.time(last_used) })}</li>
          {address !== '' && <li className="address">{t('from', { address })}</li>}
          <li>{t.rich('until', { until: rich.time(expires_at) })}</li>
        </ul>
      </div>
      <End name={name} isOff={isOff} onEnd={onEnd} />
    </li>
  )
}

/** A takeover of the user's account: who, why, and when. */
function TakeoverRow({ session, isOff, isOver, onEnd }: RowProps & { isOver: boolean }) {
  const t = useTranslations('sessions')
  const { taken_over_by, reason, created_at, ended_at, expires_at } = session
  const name = t(isOver ? 'acted' : 'acts', { by: taken_over_by ?? '' })
  const from = rich.time(created_at)
  const to = rich.time(ended_at ?? expires_at)
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
      <ShortLabel text={t('end')} name={t('endThis', { name })} />
    </Button>
  )
}
