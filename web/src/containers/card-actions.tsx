import {
  Suspense,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type ReactNode,
  type Ref,
  type RefObject,
} from 'react'
import { useTranslations } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { boot } from '#/api/api-client.ts'
import { Button } from '#/components/button.tsx'
import { ButtonMenu } from '#/components/button-menu.tsx'
import { ConfirmDialog } from '#/components/dialog.tsx'
import type { ChosenParameters, Parameters } from '#/launch/chosen-parameters.ts'
import { openUrlOf } from '#/launch/open-container.ts'
import { lazyExport } from '#/router/lazy-export.ts'
import { cardKeys, useShortcutKey } from '#/shortcuts/shortcuts.ts'
import type { actionsFor } from './containers.ts'

interface CardActionsProps {
  entry: ContainerEntry
  can: ReturnType<typeof actionsFor>
  /** An operation is under way. */
  isBusy: boolean
  /** Id of the element that says why this page can change nothing; undefined when it can. */
  disabledReasonId: string | undefined
  /** Another step helps more than a launch, and is the primary action. */
  isSecondary: boolean
  onLaunch(): void
  onRestart(): void
  onStop(): void
  onLogs(): void
  onFiles(): void
  onPorts(): void
  /** Makes a link for all members of a class. */
  onLink(): void
  onConnect(): void
}

/**
 * The primary action of a card, Stop beside it, and all else in a menu, in the order of how often it is used. A press on
 * the card itself is one on the primary action (`way-in`). Busy buttons stay focusable (`aria-disabled`). When the
 * focused button goes away, as Launch does for Open, the primary one gets the focus: it would otherwise move to the top
 * of the page.
 */
export function CardActions(props: CardActionsProps) {
  const { entry, can, isBusy, disabledReasonId, isSecondary } = props
  const { onLaunch, onRestart, onStop, onLogs, onFiles, onPorts, onLink, onConnect } = props
  const t = useTranslations('dashboard.action')
  const primary = useRef<HTMLElement>(null)
  const hadFocus = useRef(false)
  const openKey = useShortcutKey(cardKeys.open)

  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) primary.current?.focus()
  }, [can.open, can.launch, can.stop])

  if (!Object.values(can).includes(true)) return null
  const isOff = disabledReasonId !== undefined
  const rare = [
    { key: 'logs', isThere: can.readLogs, isBusy: false, shortcut: cardKeys.logs, run: onLogs },
    { key: 'files', isThere: can.readFiles, isBusy, run: onFiles },
    { key: 'ports', isThere: can.seePorts, isBusy: false, run: onPorts },
    { key: 'connect', isThere: boot.hasSsh, isBusy: false, run: onConnect },
    { key: 'link', isThere: true, isBusy: false, run: onLink },
    { key: 'restart', isThere: can.restart, isBusy, shortcut: cardKeys.restart, run: onRestart },
  ] as const
  return (
    <div className="actions" onFocus={() => (hadFocus.current = true)} onBlur={() => (hadFocus.current = false)}>
      {can.launch && (
        <span data-launching className="way-in">
          <Button
            ref={primary as RefObject<HTMLButtonElement | null>}
            variant={isSecondary ? undefined : 'primary'}
            shortcut={cardKeys.launch}
            isOff={isBusy || isOff}
            describedBy={disabledReasonId}
            onPress={onLaunch}
          >
            <Named entry={entry}>{t('launch')}</Named>
          </Button>
        </span>
      )}
      {can.open && (
        <span data-launching className="way-in">
          <a
            ref={primary as RefObject<HTMLAnchorElement | null>}
            className="button primary"
            href={openUrlOf(entry)}
            aria-keyshortcuts={openKey}
          >
            <Named entry={entry}>{t('open')}</Named>
          </a>
        </span>
      )}
      {can.stop && (
        <Button
          shortcut={cardKeys.stop}
          isOff={(isBusy && can.open) || isOff}
          describedBy={disabledReasonId}
          onPress={onStop}
        >
          <Named entry={entry}>{t('stop')}</Named>
        </Button>
      )}
      <ButtonMenu
        label={t('more', { name: entry.display_name })}
        actions={rare
          .filter(({ isThere }) => isThere)
          .map((each) => ({
            key: each.key,
            text: t(each.key),
            label: <Named entry={entry}>{t(each.key)}</Named>,
            shortcut: 'shortcut' in each ? each.shortcut : undefined,
            isOff: each.isBusy || isOff,
            describedBy: disabledReasonId,
            run: each.run,
          }))}
      />
    </div>
  )
}

/** Distinguishes "Open" on one card from "Open" on the next in a list of links. */
function Named({ entry, children }: { entry: ContainerEntry; children: ReactNode }) {
  return (
    <>
      {children}
      <span className="visually-hidden"> {entry.display_name}</span>
    </>
  )
}

// Most visits of the dashboard open none of them; few templates have parameters.
const LogsDialog = lazyExport('LogsDialog', () => import('./logs-dialog.tsx'))
const FilesDialog = lazyExport('FilesDialog', () => import('#/snapshots/files-dialog.tsx'))
const PortsDialog = lazyExport('PortsDialog', () => import('./ports-dialog.tsx'))
// With the drawing of QR codes.
const ClassLinkDialog = lazyExport('ClassLinkDialog', () => import('#/groups/class-link-dialog.tsx'))
const ConnectDialog = lazyExport('ConnectDialog', () => import('./connect-dialog.tsx'))
const ParametersDialog = lazyExport('ParametersDialog', () => import('./parameters-dialog.tsx'))

type Asked = 'launch' | 'restart' | 'stop' | 'logs' | 'files' | 'ports' | 'link' | 'connect'

export interface CardDialogsHandle {
  open(dialog: Asked): void
}

interface CardDialogsProps {
  ref: Ref<CardDialogsHandle>
  name: string
  type: string
  /** Address of the container, without a slash at its end. */
  address: string
  /** What may be chosen at a launch; without it a launch asks nothing. */
  parameters: Parameters | undefined
  onLaunch(chosen: ChosenParameters): void
  onConfirm(verb: 'restart' | 'stop'): void
}

/** The dialogs of a card. Which one is open is state of this component, so that the card does not render for it. */
export function CardDialogs({ ref, name, type, address, parameters, onLaunch, onConfirm }: CardDialogsProps) {
  const [opened, setOpened] = useState<Asked>()
  useImperativeHandle(ref, () => ({ open: setOpened }), [])
  const close = () => setOpened(undefined)
  if (opened === undefined) return null
  if (opened === 'restart' || opened === 'stop')
    return <ActionQuestion verb={opened} name={name} onConfirm={() => onConfirm(opened)} onClose={close} />
  return (
    <Suspense fallback={null}>
      {opened === 'logs' && <LogsDialog name={name} type={type} onClose={close} />}
      {opened === 'files' && <FilesDialog name={name} type={type} onClose={close} />}
      {opened === 'ports' && <PortsDialog name={name} type={type} onClose={close} />}
      {opened === 'connect' && <ConnectDialog name={name} type={type} onClose={close} />}
      {opened === 'link' && (
        <ClassLinkDialog types={[{ type, display_name: name }]} ownAddress={address} onClose={close} />
      )}
      {opened === 'launch' && (
        <ParametersDialog name={name} parameters={parameters ?? {}} onLaunch={onLaunch} onClose={close} />
      )}
    </Suspense>
  )
}

interface ActionQuestionProps {
  verb: 'restart' | 'stop'
  name: string
  onConfirm(): void
  /** Called when the dialog has closed, confirmed or not. */
  onClose(): void
}

/** Asks for confirmation before programs are ended, and says what is kept. */
function ActionQuestion({ verb, name, onConfirm, onClose }: ActionQuestionProps) {
  const t = useTranslations('dashboard')
  return (
    <ConfirmDialog
      title={t(`confirm.${verb}.title`, { name })}
      confirm={t(`action.${verb}`)}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        <b>{t(`confirm.${verb}.keeps`)}</b> {t(`confirm.${verb}.loses`)}
      </p>
    </ConfirmDialog>
  )
}
