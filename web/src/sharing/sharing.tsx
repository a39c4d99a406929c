import { useEffect, useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Share } from '@berth/api/schemas/features/sharing.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { useContainers } from '#/containers/use-containers.ts'
import { useEvents } from '#/events/use-events.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { sharing } from '#/messages/sharing.ts'
import { Page } from '#/page/page.tsx'
import { SwitchedOff } from '#/page/status-page.tsx'
import '#/groups/groups.css'
import './sharing.css'
import { Looks } from './looks.tsx'
import { ShareDialog } from './share-dialog.tsx'
import { sharedNameOf, sharedUrlOf, useSharedWithMe, useShares, useSharesChanged } from './use-shares.ts'

/** With whom the user shares containers, who is there now, and what others share with the user. */
export const Sharing = withTexts({ sharing }, () =>
  boot.sharing === null ? <SwitchedOff of="sharing" /> : <SharingPage />,
)

function SharingPage() {
  const t = useTranslations('sharing')
  const { containers, problem } = useContainers()
  // An administrator who acts for the user shares nothing of theirs.
  const isOff = !canAct() || boot.acting !== null
  // Undefined until it is known: a page that cannot read the list must not say that nothing was launched.
  const launched = containers?.filter(({ created_at: at }) => at !== null)
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      {boot.acting === null && <Looks containers={containers} />}
      <SharedWithMe />
      <Alert error={problem} />
      {launched?.map((entry) => (
        <OwnContainer key={entry.type} entry={entry} isOff={isOff} />
      ))}
      {launched?.length === 0 && <p className="empty">{t('nothingLaunched')}</p>}
    </Page>
  )
}

function SharedWithMe() {
  const t = useTranslations('sharing')
  const query = useSharedWithMe()
  // Nor before it is known: the heading would come and go.
  if (!query.error && !query.data?.length) return null
  return (
    <section className="part" aria-labelledby="shared-with-me">
      <h2 id="shared-with-me">{t('withMe')}</h2>
      <Alert error={query.error ?? undefined} />
      <ul className="rows">
        {query.data?.map((shared) => (
          <li key={shared.id} className="row">
            <div>
              <h3 className="address">{t('of', { name: sharedNameOf(shared), owner: shared.owner })}</h3>
              <p className="hint">{t.rich(shared.may, { at: rich.time(shared.expires_at) })}</p>
              {shared.single_pages_only && <p className="hint">{t('singlePagesForYou')}</p>}
            </div>
            <a className="button small" href={sharedUrlOf(shared)}>
              {t('open')}
              <span className="visually-hidden"> {t('of', { name: sharedNameOf(shared), owner: shared.owner })}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Shares of one of the user's own containers, and who has it open now. */
function OwnContainer({ entry, isOff }: { entry: ContainerEntry; isOff: boolean }) {
  const t = useTranslations('sharing')
  const id = useId()
  const { type, display_name: name } = entry
  const query = useShares(type)
  const { events, isLive } = useEvents()
  const [isOpen, setOpen] = useState(false)
  const [outcome, setOutcome] = useState('')
  const changed = useSharesChanged(type)
  const { looks } = events.looks
  const known = useRef(looks)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (known.current === looks) return
    known.current = looks
    void changed()
  }, [looks, changed])
  const visitors = (isLive ? events.visitors.get(type) : query.data?.visitors) ?? []
  return (
    <section className="part" aria-labelledby={id}>
      <h2 id={id} ref={heading} tabIndex={-1}>
        {name}
      </h2>
      <Alert error={query.error ?? undefined} />
      <div role="status">
        {visitors.length > 0 && (
          <ul className="visitors">
            {visitors.map(({ email, since }) => (
              <li key={email}>
                {t.rich('inNow', {
                  email: rich.inPlace(<b className="address">{email}</b>),
                  at: rich.time(since),
                })}
              </li>
            ))}
          </ul>
        )}
      </div>
      {query.data?.shares.length === 0 && <p className="hint">{t('notShared')}</p>}
      <ul className="rows">
        {query.data?.shares.map((share) => (
          <ShareRow
            key={share.id}
            share={share}
            isOff={isOff}
            onEnd={() => heading.current?.focus({ preventScroll: true })}
            onEnded={(visitor) => setOutcome(t('ended', { name: visitor }))}
            isHere={visitors.some(({ email }) => email === share.email)}
          />
        ))}
      </ul>
      <p className="actions">
        <Button isOff={isOff} onPress={() => setOpen(true)}>
          <ShortLabel text={t('share')} name={t('shareThis', { name })} />
        </Button>
      </p>
      {isOpen && (
        <ShareDialog
          name={name}
          type={type}
          address={entry.service_url}
          isForSinglePages={query.data?.single_pages_only === true}
          onClose={() => setOpen(false)}
          onShared={() => setOutcome(t('shared', { name }))}
        />
      )}
      <p role="status" className="visually-hidden">
        {outcome}
      </p>
    </section>
  )
}

interface ShareRowProps {
  share: Share
  isOff: boolean
  /** The visitor has the container open now. */
  isHere: boolean
  /** Called before the share is ended: the row goes away with the focus in it. */
  onEnd(): void
  /** @param name of the visitor or the group */
  onEnded(name: string): void
}

/** One share of the user's own container; one press ends it. */
function ShareRow({ share, isOff, isHere, onEnd, onEnded }: ShareRowProps) {
  const t = useTranslations('sharing')
  const { busy, error, run } = useTask()
  const { id, container_type: type, email, group, asked_in: askedIn, may, port } = share
  const name = email ?? t('group', { name: group?.name ?? '' })
  const changed = useSharesChanged(type)

  function end() {
    onEnd()
    void run(async (signal) => {
      await createApiClient(signal).endShare({ params: { container_type: type, id: String(id) } })
      onEnded(name)
      await changed()
    })
  }
  return (
    <li className="row">
      <div>
        <h3 className="address">
          {name} {isHere && <span className="badge">{t('here')}</span>}
        </h3>
        <p className="hint">{t.rich(may, { at: rich.time(share.expires_at) })}</p>
        {port !== null && <p className="hint">{t('portAlone', { port: String(port) })}</p>}
        {askedIn && <p className="hint">{t('askedIn', { group: askedIn.name })}</p>}
        <Alert error={error} />
      </div>
      <Button variant="small" isOff={isOff || busy} onPress={end}>
        <ShortLabel text={t('end')} name={t('endThis', { name })} />
      </Button>
    </li>
  )
}
