import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, canAct } from '#/api/api-client.ts'
import { isFirstVisit } from '#/containers/containers.ts'
import { AskForHelp } from '#/support-contact/ask-for-help.tsx'
import { BlockedNote } from '#/components/container-card/blocked-note.tsx'
import { ContainerCard } from '#/components/container-card/container-card.tsx'
import { ContainerListProblem } from '#/containers/container-list-problem.tsx'
import { DiskNote } from '#/components/container-card/card-notes.tsx'
import { OwnGroups } from '#/groups/own-groups.tsx'
import { Looks } from '#/sharing/looks.tsx'
import { SharedWithMe } from '#/sharing/shared-with-me.tsx'
import { ShortcutsOn } from '#/shortcuts/shortcuts-context.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page/page.tsx'
import { rich } from '#/components/rich.tsx'
import { Shortcuts } from '#/shortcuts/shortcuts-help.tsx'
import { TakeoverNote } from '#/components/sessions/takeover-note.tsx'
import { useContainers, type ContainerListState } from '#/containers/use-containers.ts'
import { useEvents } from '#/events/use-events.ts'
import { useMe } from '#/session/use-me.ts'
import { useNotice } from '#/router/use-notice.ts'
import { pages } from '#/paths.ts'
import { areShortcutsOn, saveShortcutsOn } from '#/shortcuts/shortcuts.ts'
import { serverNow } from '#/time/server-now.ts'

/**
 * The start page of a signed-in user: one card for each type, and a notice of the page that redirected here, if any.
 */
export function Dashboard() {
  const t = useTranslations('dashboard')
  const containerList = useContainers()
  const { events, isAccountBlocked } = useEvents()
  const notice = useNotice()
  const signInNote = useId()
  return (
    <Page title={t('title')}>
      {notice !== undefined && <p className="note">{notice}</p>}
      {/* An administrator who acts for the user sees a banner instead. */}
      {boot.acting === null && <TakeoverNote event={events.takeover} />}
      {boot.sharing !== null && boot.acting === null && <Looks containers={containerList.containers} />}
      {isAccountBlocked && <BlockedNote containers={containerList.containers} />}
      {!canAct() && <SignInNote id={signInNote} />}
      <DiskNote event={events.disks.get(null)} />
      <ContainerListProblem containerList={containerList} />
      {containerList.containers ? (
        <Cards containers={containerList.containers} signInNote={signInNote} />
      ) : (
        containerList.problem === undefined && <Loading />
      )}
      {boot.hasSnapshots && (
        <p className="hint">
          <Link to={pages.snapshots}>{t('snapshots')}</Link>
        </p>
      )}
      {boot.sharing !== null && boot.acting === null && <SharedWithMe />}
      {boot.hasGroups && boot.acting === null && <OwnGroups />}
    </Page>
  )
}

function Cards({
  containers,
  signInNote,
}: {
  containers: NonNullable<ContainerListState['containers']>
  signInNote: string
}) {
  const t = useTranslations('dashboard')
  const { events, isAccountBlocked } = useEvents()
  const me = useMe()
  const [isOn, setOn] = useState(() => areShortcutsOn())
  const [openedAt] = useState(() => serverNow())
  const [isFirst, setFirst] = useState(false)
  // The note stays once shown: removing it at the first launch would move all cards.
  if (!isFirst && isFirstVisit(containers, me?.created_at, openedAt)) setFirst(true)
  if (containers.length === 0) {
    return (
      <p>
        {t('empty')} <AskForHelp />
      </p>
    )
  }
  return (
    <ShortcutsOn value={isOn}>
      {isFirst && <p className="lead">{t('firstVisit')}</p>}
      {isFirst && boot.isAdmin && <p className="note">{t.rich('youAdminister', { admin: rich.link(pages.admin) })}</p>}
      <ul className="cards">
        {containers.map((entry) => (
          <ContainerCard
            key={entry.type}
            entry={entry}
            isAccountBlocked={isAccountBlocked}
            launch={events.launches.get(entry.type)}
            status={events.statuses.get(entry.type)}
            reason={events.reasons.get(entry.type)}
            disk={events.disks.get(entry.type)}
            idle={events.idles.get(entry.type)}
            visitors={events.visitors.get(entry.type)}
            signInNote={signInNote}
          />
        ))}
      </ul>
      <Shortcuts
        isOn={isOn}
        count={containers.length}
        onTurn={(on) => {
          saveShortcutsOn(on)
          setOn(on)
        }}
      />
    </ShortcutsOn>
  )
}

/** On plain http, after a reload: the document has no CSRF value, so nothing can be changed from it. */
function SignInNote({ id }: { id: string }) {
  const t = useTranslations('dashboard.signInAgain')
  return (
    <div className="note with-action">
      <p id={id}>{t('text')}</p>
      <a className="button primary" href={pages.login}>
        {t('link')}
      </a>
    </div>
  )
}

function Loading() {
  const t = useTranslations('dashboard')
  return (
    <>
      <p role="status">{t('loading')}</p>
      <ul className="cards" aria-hidden>
        <li className="card placeholder" />
        <li className="card placeholder" />
      </ul>
    </>
  )
}
