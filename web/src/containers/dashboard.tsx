import { useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { boot } from '#/api/api-client.ts'
import { isUnreachable } from '#/api/errors.ts'
import { AskForHelp } from '#/components/ask-for-help.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { useEvents } from '#/events/use-events.ts'
import { membersPath, useOwnGroups } from '#/groups/use-own-groups.ts'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'
import { Page } from '#/page/page.tsx'
import { TakeoverNote } from '#/page/takeover.tsx'
import { pages } from '#/paths.ts'
import { focusHeading, useLocation, useNotice } from '#/router/router.ts'
import { useMe } from '#/session/use-me.ts'
import { Looks } from '#/sharing/looks.tsx'
import { sharedUrlOf, useSharedWithMe } from '#/sharing/use-shares.ts'
import { Shortcuts } from '#/shortcuts/shortcuts-help.tsx'
import { ShortcutsOn, areShortcutsOn, saveShortcutsOn } from '#/shortcuts/shortcuts.ts'
import { serverNow } from '#/time/time.tsx'
import { ContainerCard, DiskNote } from './container-card.tsx'
import { isFirstVisit, sortedByUse } from './containers.ts'
import { useContainers, type ContainerListState } from './use-containers.ts'

/**
 * The start page of a signed-in user: one card for each type, and a notice of the page that redirected here, if any.
 */
export function Dashboard() {
  const t = useTranslations('dashboard')
  const containerList = useContainers()
  const { events, isAccountBlocked } = useEvents()
  const notice = useNotice()
  return (
    <Page
      title={t('title')}
      width="board"
      state={
        containerList.containers && (
          <p className="hint">{t('running', { count: containerList.containers.filter(isRunning).length })}</p>
        )
      }
    >
      {notice !== undefined && <p className="note">{notice}</p>}
      <OpenLinkNote />
      {/* An administrator who acts for the user sees a banner instead. */}
      {boot.acting === null && <TakeoverNote event={events.takeover} />}
      {boot.sharing !== null && boot.acting === null && <Looks containers={containerList.containers} />}
      {isAccountBlocked && <BlockedNote containers={containerList.containers} />}
      <DiskNote event={events.disks.get(null)} />
      <ContainerListProblem containerList={containerList} />
      {containerList.containers ? (
        <Cards containers={containerList.containers} />
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

/** Why a link that was to open a container led here instead. */
function OpenLinkNote() {
  const t = useTranslations('dashboard.openLink')
  const { query } = useLocation()
  const why = openLinkProblems.find((each) => each === query.get('link'))
  return why ? <p className="note">{t(why)}</p> : null
}

/** Values of the parameter `link` of this page. */
const openLinkProblems = ['unknown', 'host', 'link'] as const

function Cards({ containers }: { containers: NonNullable<ContainerListState['containers']> }) {
  const t = useTranslations('dashboard')
  const { events, isAccountBlocked } = useEvents()
  const me = useMe()
  const [isOn, setOn] = useState(() => areShortcutsOn())
  const [openedAt] = useState(() => serverNow())
  const [isFirst, setFirst] = useState(false)
  // The note stays once shown: removing it at the first launch would move all cards.
  if (!isFirst && isFirstVisit(containers, me?.created_at, openedAt)) setFirst(true)
  const inOrder = useSteadyOrder(containers)
  if (containers.length === 0) {
    return (
      <div className="empty">
        <p>
          {t('empty')} <AskForHelp />
        </p>
        {boot.isAdmin && <Link to={pages.adminTemplates}>{t('emptyNext')}</Link>}
      </div>
    )
  }
  return (
    <ShortcutsOn value={isOn}>
      {isFirst && <p className="lead">{t('firstVisit')}</p>}
      {isFirst && boot.isAdmin && <p className="note">{t.rich('youAdminister', { admin: rich.link(pages.admin) })}</p>}
      <ul className={containers.length > few ? 'cards' : 'cards few'}>
        {inOrder.map((entry) => (
          <ContainerCard
            key={entry.type}
            entry={entry}
            isAccountBlocked={isAccountBlocked}
            launch={events.launches.get(entry.type)}
            last={events.containers.get(entry.type)}
            disk={events.disks.get(entry.type)}
            layer={events.layers.get(entry.type)}
            idle={events.idles.get(entry.type)}
            visitors={events.visitors.get(entry.type)}
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

/** So many cards are wider, because they would leave half of a desk's window empty. */
const few = 3

const isRunning = ({ status }: ContainerEntry) => status === 'running'

/**
 * Running ones first, as they stood when the page opened: a card stays in its place when its container starts or stops.
 * Types that come later are last.
 */
function useSteadyOrder(containers: readonly ContainerEntry[]): readonly ContainerEntry[] {
  const [order] = useState(() => sortedByUse(containers).map(({ type }) => type))
  const placeOf = ({ type }: ContainerEntry) => order.indexOf(type) >>> 0
  return containers.toSorted((one, other) => placeOf(one) - placeOf(other))
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

/**
 * Why the list may be out of date, and since when. The element is always rendered, so that a later problem is
 * announced. Every page itself says that Berth cannot be reached (`ConnectivityNote`).
 */
function ContainerListProblem({
  containerList: { containers, asOf, problem, refresh },
}: {
  containerList: ContainerListState
}) {
  const t = useTranslations('dashboard')
  const format = useFormatter()
  const sentenceOf = useErrorMessage()
  const sentences = [
    !containers && t('failed'),
    !isUnreachable(problem) && sentenceOf(problem),
    containers && t('asOf', { time: format.dateTime(asOf, { timeStyle: 'short' }) }),
  ]
  // The button goes away with the problem, so the focus moves first.
  function retry() {
    focusHeading()
    refresh()
  }

  return (
    <div role="alert" className="live">
      {problem !== undefined && (
        <div className="alert with-action">
          <p>{sentences.filter(Boolean).join(' ')}</p>
          <Button onPress={retry}>{t('action.retry')}</Button>
        </div>
      )}
    </div>
  )
}

/** Says once for the whole page that the account is blocked, since when, and whom to contact. */
function BlockedNote({ containers = [] }: { containers: readonly ContainerEntry[] | undefined }) {
  const t = useTranslations('dashboard')
  // The block of the account cascaded to its containers; those blocked separately were blocked earlier.
  const since = containers
    .map(({ blocked_at: at }) => at)
    .filter((at) => at !== null)
    .toSorted()
    .at(-1)
  return (
    <p className="note" role="status">
      {since === undefined ? t('accountBlocked') : t.rich('accountBlockedSince', { time: rich.time(since) })}{' '}
      <AskForHelp />
    </p>
  )
}

/**
 * A line below the containers: the user's groups, and where a join code is entered. Not on the page while there is no
 * group at all.
 */
function OwnGroups() {
  const t = useTranslations('dashboard.groups')
  const { data = [] } = useOwnGroups()
  return (
    <nav aria-label={t('label')}>
      <ul className="dotted hint">
        {data.map(({ id, name, role }) => (
          <li key={id}>{role === 'manager' ? <Link to={membersPath(id)}>{name}</Link> : name}</li>
        ))}
        <li>
          <Link to={pages.groups}>{t('all')}</Link>
        </li>
      </ul>
    </nav>
  )
}

/** A line below the containers: those that others share with the user, and where the user shares one. */
function SharedWithMe() {
  const t = useTranslations('dashboard.sharing')
  const { data = [] } = useSharedWithMe()
  return (
    <nav aria-label={t('label')}>
      <ul className="dotted hint">
        {data.map((shared) => (
          <li key={shared.id}>
            <a href={sharedUrlOf(shared)}>{t('of', { name: shared.display_name, owner: shared.owner })}</a>
          </li>
        ))}
        <li>
          <Link to={pages.sharing}>{t('all')}</Link>
        </li>
      </ul>
    </nav>
  )
}
