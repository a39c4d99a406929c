import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useEffect, useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { Time } from '#/components/time.tsx'
import { useEvents } from '#/events/use-events.ts'
import { ShareDialog } from './share-dialog.tsx'
import { ShareRow } from './share-row.tsx'
import { useShares, useSharesChanged } from './use-shares.ts'

/** Shares of one of the user's own containers, and who has it open now. */
export function OwnContainer({ entry, isOff }: { entry: ContainerEntry; isOff: boolean }) {
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
                  at: rich.inPlace(<Time at={since} />),
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
      {query.data?.single_pages_only && <p className="hint">{t('singlePages')}</p>}
      <p className="actions">
        <Button isOff={isOff} onPress={() => setOpen(true)}>
          <span aria-hidden>{t('share')}</span>
          <span className="visually-hidden">{t('shareThis', { name })}</span>
        </Button>
      </p>
      {isOpen && (
        <ShareDialog
          name={name}
          type={type}
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
