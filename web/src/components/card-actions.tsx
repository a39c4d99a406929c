import { useEffect, useRef } from 'react'
import type { ContainerEntry } from '@berth/api/user.ts'
import { Button } from '#/components/button.tsx'
import { actionsFor } from '#/container-status.ts'

interface CardActionsProps {
  entry: ContainerEntry
  canRestart: boolean
  isBusy: boolean
  onLaunch(): void
  onRestart(): void
  onLogs(): void
}

const words = {
  launch: 'Launch',
  open: 'Open',
  restart: 'Restart',
  logs: 'Logs',
}

/**
 * The buttons of a card. Busy buttons stay focusable (`aria-disabled`), and when Launch turns into Open
 * the focus goes along: otherwise a keyboard user is thrown back to the top of the page.
 */
export function CardActions({ entry, canRestart, isBusy, onLaunch, onRestart, onLogs }: CardActionsProps) {
  const can = actionsFor(entry, canRestart)
  const open = useRef<HTMLAnchorElement>(null)
  const hadFocus = useRef(false)

  useEffect(() => {
    if (can.open && hadFocus.current && document.activeElement === document.body) open.current?.focus()
  }, [can.open])

  if (!can.open && !can.launch && !can.restart && !can.readLogs) return null
  return (
    <div className="actions">
      {can.launch && (
        <span onFocus={() => (hadFocus.current = true)} onBlur={() => (hadFocus.current = false)}>
          <Button look="primary" isOff={isBusy} onPress={onLaunch}>
            {words.launch}
            <Name entry={entry} />
          </Button>
        </span>
      )}
      {can.open && (
        <a ref={open} className="button primary" href={`${entry.service_url}/`}>
          {words.open}
          <Name entry={entry} />
        </a>
      )}
      {can.restart && (
        <Button isOff={isBusy} onPress={onRestart}>
          {words.restart}
          <Name entry={entry} />
        </Button>
      )}
      {can.readLogs && (
        <Button onPress={onLogs}>
          {words.logs}
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
