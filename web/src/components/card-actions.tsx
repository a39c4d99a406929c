import { useEffect, useRef, type ReactNode, type RefObject } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/user.ts'
import { Button } from '#/components/button.tsx'
import { useKeyOf } from '#/components/keys.tsx'
import type { actionsFor } from '#/container-status.ts'
import { cardKeys } from '#/shortcuts.ts'

interface CardActionsProps {
  entry: ContainerEntry
  can: ReturnType<typeof actionsFor>
  /** Something is under way. */
  isBusy: boolean
  /** Why nothing can be changed from this page, by id; undefined when it can. */
  offBecause: string | undefined
  /** What helps more than to launch it once more; it is the primary action then. */
  lead?: ReactNode
  /** The last launch failed. */
  isRetry: boolean
  onLaunch(): void
  onRestart(): void
  onStop(): void
  onLogs(): void
}

/**
 * The buttons of a card, one of them primary. Busy buttons stay focusable (`aria-disabled`), and when one goes away that
 * had the focus, as Launch does for Open, the primary one gets it: otherwise a keyboard user is thrown back to the top of
 * the page.
 */
export function CardActions(props: CardActionsProps) {
  const { entry, can, isBusy, offBecause, lead, isRetry, onLaunch, onRestart, onStop, onLogs } = props
  const t = useTranslations('dashboard.action')
  const primary = useRef<HTMLElement>(null)
  const hadFocus = useRef(false)
  const openKey = useKeyOf(cardKeys.open)
  const changing = { isOff: isBusy || offBecause !== undefined, describedBy: offBecause }

  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) primary.current?.focus()
  }, [can.open, can.launch, can.stop])

  if (!Object.values(can).includes(true)) return null
  return (
    <div className="actions" onFocus={() => (hadFocus.current = true)} onBlur={() => (hadFocus.current = false)}>
      {lead}
      {can.launch && (
        <span data-launching>
          <Button
            ref={primary as RefObject<HTMLButtonElement | null>}
            look={lead ? undefined : 'primary'}
            shortcut={cardKeys.launch}
            {...changing}
            onPress={onLaunch}
          >
            {isRetry ? t('retry') : t('launch')}
            <Name entry={entry} />
          </Button>
        </span>
      )}
      {can.open && (
        <a
          ref={primary as RefObject<HTMLAnchorElement | null>}
          data-launching
          className="button primary"
          href={`${entry.service_url}/`}
          aria-keyshortcuts={openKey}
        >
          {t('open')}
          <Name entry={entry} />
        </a>
      )}
      {can.restart && (
        <Button shortcut={cardKeys.restart} {...changing} onPress={onRestart}>
          {t('restart')}
          <Name entry={entry} />
        </Button>
      )}
      {can.stop && (
        <Button
          shortcut={cardKeys.stop}
          isOff={offBecause !== undefined || (isBusy && can.open)}
          describedBy={offBecause}
          onPress={onStop}
        >
          {t('stop')}
          <Name entry={entry} />
        </Button>
      )}
      {can.readLogs && (
        <Button shortcut={cardKeys.logs} isOff={offBecause !== undefined} describedBy={offBecause} onPress={onLogs}>
          {t('logs')}
          <Name entry={entry} />
        </Button>
      )}
    </div>
  )
}

/** Tells "Open" on one card from "Open" on the next in a list of links. */
function Name({ entry }: { entry: ContainerEntry }) {
  return <span className="visually-hidden"> {entry.display_name}</span>
}
