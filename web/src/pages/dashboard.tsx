import { useId, useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { boot, canAct } from '#/api.ts'
import { isFirstVisit } from '#/berths.ts'
import { Button } from '#/components/button.tsx'
import { Ask } from '#/components/ask.tsx'
import { BlockedNote } from '#/components/blocked-note.tsx'
import { ContainerCard } from '#/components/container-card.tsx'
import { DiskNote } from '#/components/disk-note.tsx'
import { KeysOn } from '#/components/keys.tsx'
import { focusHeading, Page } from '#/components/page.tsx'
import { rich } from '#/components/rich.tsx'
import { Shortcuts } from '#/components/shortcuts.tsx'
import { TakeoverNote } from '#/components/takeover-note.tsx'
import { problemIn } from '#/errors.ts'
import { useBerths, type Berths } from '#/hooks/use-berths.ts'
import { useEvents } from '#/hooks/use-events.ts'
import { useMe } from '#/hooks/use-me.ts'
import { useNotice } from '#/hooks/use-notice.ts'
import { useSentence } from '#/hooks/use-sentence.ts'
import { pages } from '#/paths.ts'
import { areShortcutsOn, turnShortcuts } from '#/shortcuts.ts'

/** The signed-in person's home: one card for each type. A page that led here may have left words to say why. */
export function Dashboard() {
  const t = useTranslations('dashboard')
  const berths = useBerths()
  const { told, isAccountBlocked } = useEvents()
  const notice = useNotice()
  const signInNote = useId()
  return (
    <Page title={t('title')}>
      {notice !== undefined && <p className="note">{notice}</p>}
      {/* Whoever acts has a banner of their own. */}
      {boot.acting === null && <TakeoverNote event={told.takeover} />}
      {isAccountBlocked && <BlockedNote containers={berths.containers} />}
      {!canAct() && <SignInNote id={signInNote} />}
      <DiskNote event={told.disks.get(null)} />
      <Problem berths={berths} />
      {berths.containers ? (
        <Cards containers={berths.containers} signInNote={signInNote} />
      ) : (
        berths.problem === undefined && <Loading />
      )}
    </Page>
  )
}

function Cards({ containers, signInNote }: { containers: NonNullable<Berths['containers']>; signInNote: string }) {
  const t = useTranslations('dashboard')
  const { told, isAccountBlocked } = useEvents()
  const me = useMe()
  const [isOn, setOn] = useState(() => areShortcutsOn())
  const [openedAt] = useState(() => Date.now())
  const [isFirst, setFirst] = useState(false)
  // Once said it stays: a line that goes away with the first launch would move all cards.
  if (!isFirst && isFirstVisit(containers, me?.created_at, openedAt)) setFirst(true)
  if (containers.length === 0) {
    return (
      <p>
        {t('empty')} <Ask />
      </p>
    )
  }
  return (
    <KeysOn value={isOn}>
      {isFirst && <p className="lead">{t('firstVisit')}</p>}
      {isFirst && boot.isAdmin && <p className="note">{t.rich('youAdminister', { admin: rich.link(pages.admin) })}</p>}
      <ul className="cards">
        {containers.map((entry) => (
          <ContainerCard
            key={entry.type}
            entry={entry}
            isAccountBlocked={isAccountBlocked}
            launch={told.launches.get(entry.type)}
            status={told.statuses.get(entry.type)}
            reason={told.reasons.get(entry.type)}
            disk={told.disks.get(entry.type)}
            idle={told.idles.get(entry.type)}
            signInNote={signInNote}
          />
        ))}
      </ul>
      <Shortcuts
        isOn={isOn}
        count={containers.length}
        onTurn={(on) => {
          turnShortcuts(on)
          setOn(on)
        }}
      />
    </KeysOn>
  )
}

/** On plain http, after a reload: the document has no proof that it is ours, and nothing can be changed from it. */
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

/**
 * Why the list may be an old one, and of when it is. The slot is always there, so that a problem that comes up later is
 * read out. That Berth cannot be reached every page says by itself (`AwayNote`).
 */
function Problem({ berths: { containers, asOf, problem, refresh } }: { berths: Berths }) {
  const t = useTranslations('dashboard')
  const format = useFormatter()
  const sentenceOf = useSentence()
  const said = [
    !containers && t('failed'),
    !isAway(problem) && sentenceOf(problem),
    containers && t('asOf', { time: format.dateTime(asOf, { timeStyle: 'short' }) }),
  ]
  // The button goes away with the problem, so the focus must leave it first.
  function retry() {
    focusHeading()
    refresh()
  }

  return (
    <div role="alert" className="live">
      {problem !== undefined && (
        <div className="alert with-action">
          <p>{said.filter(Boolean).join(' ')}</p>
          <Button onPress={retry}>{t('action.retry')}</Button>
        </div>
      )}
    </div>
  )
}

function isAway(error: unknown): boolean {
  const problem = problemIn(error)
  return 'key' in problem && problem.key === 'unreachable'
}
