import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { TermEnd as TermEndState, TermEndMember } from '@berth/api/schemas/groups/term-end.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { groupsKey } from '#/admin/groups/use-groups.ts'
import { useQuantities } from '#/admin/quantities.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { rich } from '#/components/rich.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { useTask } from '#/components/use-task.ts'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import { serverNow } from '#/time/time.tsx'
import { TermEndForm } from './term-end-form.tsx'
import { useGroup, useTermEnd, useTermEndMembers } from './use-term-end.ts'

/** The end of the term of a group: what it will do, and how far it is. */
export function TermEnd() {
  const t = useTranslations('admin.termEnd')
  const id = useLocation().query.get('group') ?? ''
  if (id !== '') return <OfGroup key={id} id={id} />
  return (
    <AdminPage title={t('title')}>
      <p>{t('noGroup')}</p>
      <BackToGroups />
    </AdminPage>
  )
}

function OfGroup({ id }: { id: string }) {
  const t = useTranslations('admin.termEnd')
  const group = useGroup(id)
  const query = useTermEnd(id)
  const termEnd = query.data
  const mayBegin = termEnd === null || termEnd?.phase === 'done'
  return (
    <AdminPage title={group.data ? t('of', { name: group.data.name }) : t('title')}>
      <BackToGroups />
      <p className="hint about">{t('about')}</p>
      <QueryError query={group.error ? group : query} />
      {termEnd && <TermEndProgress id={id} termEnd={termEnd} />}
      {group.data && mayBegin && <TermEndForm id={id} name={group.data.name} />}
    </AdminPage>
  )
}

function BackToGroups() {
  const t = useTranslations('admin.termEnd')
  return (
    <p>
      <Link to={pages.adminGroups}>{t('back')}</Link>
    </p>
  )
}

const states = ['waiting', 'archived', 'mailed', 'done', 'kept', 'failed'] as const

/** How far an end of term is, with ways to cancel it and to have it go on. */
function TermEndProgress({ id, termEnd }: { id: string; termEnd: TermEndState }) {
  const t = useTranslations('admin.termEnd')
  const { bytes } = useQuantities()
  const { counts, problem, started_by: name } = termEnd
  return (
    <section className="part" aria-labelledby="term-end-progress">
      <h2 id="term-end-progress">{t('progress.title')}</h2>
      <p role="status">
        <Phase termEnd={termEnd} />
      </p>
      <Alert error={undefined} sentence={problem === null ? undefined : t(`progress.${problem}`)} />
      <ul className="dotted hint" aria-label={t('progress.counts')}>
        {states
          .filter((state) => counts[state] > 0)
          .map((state) => (
            <li key={state}>
              {t(`state.${state}`)}: {counts[state]}
            </li>
          ))}
        <li>{t('progress.archives', { count: termEnd.archives, bytes: bytes(termEnd.archive_bytes) })}</li>
        <li>{t.rich('progress.startedBy', { name, at: rich.time(termEnd.started_at) })}</li>
      </ul>
      <Actions id={id} termEnd={termEnd} />
      <Members id={id} termEnd={termEnd} />
    </section>
  )
}

function Phase({ termEnd: { phase, counts, remove_at: removeAt, keep_until: keepUntil } }: { termEnd: TermEndState }) {
  const t = useTranslations('admin.termEnd.progress')
  if (phase === 'removing') return t('removing')
  if (phase === 'done') return t.rich(isLate(keepUntil) ? 'late' : 'done', { at: rich.time(keepUntil) })
  if (counts.waiting + counts.archived > 0) return t('archiving')
  return t.rich('waiting', { at: rich.time(removeAt) })
}

/** Whether archives are not kept any more: nothing is removed then. */
const isLate = (keepUntil: string) => Date.parse(keepUntil) <= serverNow()

function Actions({
  id,
  termEnd: { phase, counts, problem, keep_until: keepUntil },
}: {
  id: string
  termEnd: TermEndState
}) {
  const t = useTranslations('admin.termEnd')
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const [isCancelling, setCancelling] = useState(false)
  const changed = () => client.invalidateQueries({ queryKey: groupsKey })
  const hasRest = counts.failed > 0 || problem !== null || (phase !== 'done' && counts.waiting + counts.archived > 0)
  const mayRetry = hasRest && !isLate(keepUntil)

  async function cancel(signal: AbortSignal) {
    await createApiClient(signal).cancelTermEnd({ params: { id } })
    await changed()
  }
  const retry = () =>
    run(async (signal) => {
      await createApiClient(signal).retryTermEnd({ params: { id } })
      await changed()
    })

  return (
    <>
      <div className="actions">
        {phase === 'archiving' && <Button onPress={() => setCancelling(true)}>{t('cancel.open')}</Button>}
        {mayRetry && (
          <Button isOff={busy} onPress={() => void retry()}>
            {t('retry')}
          </Button>
        )}
      </div>
      <Alert error={error} />
      {isCancelling && (
        <ActionDialog
          title={t('cancel.title')}
          words={(key) => t(`cancel.${key}`)}
          isGrave
          run={cancel}
          onClose={() => setCancelling(false)}
        >
          <p>{t('cancel.effect')}</p>
        </ActionDialog>
      )}
    </>
  )
}

function Members({ id, termEnd }: { id: string; termEnd: TermEndState }) {
  const t = useTranslations('admin.termEnd')
  const query = useTermEndMembers(id, termEnd)
  const members = query.data?.pages.flatMap((page) => page.members) ?? []
  return (
    <>
      <Alert error={query.error ?? undefined} />
      <ul className="rows" aria-label={t('progress.members')}>
        {members.map((each) => (
          <Member key={each.user.id} member={each} />
        ))}
      </ul>
      <NextPageButton query={query} />
    </>
  )
}

function Member({ member: { user, state, problem, removes_account: removes, archives, downloads } }: MemberProps) {
  const t = useTranslations('admin.termEnd')
  const { bytes } = useQuantities()
  const nameOf = useTypeName()
  const types = archives.map(({ type, bytes: size }) => `${nameOf(type)} (${bytes(size)})`).join(', ')
  return (
    <li className="row">
      <div>
        <h3 className="address">{user.email}</h3>
        <ul className="dotted hint">
          <li>{t(`state.${state}`)}</li>
          {problem !== null && <li>{t(`problem.${problem}`)}</li>}
          <li>{t(`outcome.${removes ? 'removed' : 'stays'}`)}</li>
          {types !== '' && <li>{types}</li>}
          {types !== '' && <li>{t('progress.downloads', { count: downloads })}</li>}
        </ul>
      </div>
    </li>
  )
}

interface MemberProps {
  member: TermEndMember
}
