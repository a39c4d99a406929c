import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { AddMembersDialog } from '#/groups/addition/add-members-dialog.tsx'
import { HoursDialog } from '#/groups/hours/hours-dialog.tsx'
import { StartDialog } from '#/groups/live/start-dialog.tsx'
import { JoinCodeDialog } from './join-code-dialog.tsx'
import { hasEnded, useMembersChanged } from './use-members.ts'

const calls = { stop: 'stopGroup', block: 'blockGroup', unblock: 'unblockGroup' } as const
/** The server waits for stops for some seconds only. */
const timeout = 60_000

interface GroupActionsProps {
  managed: ManagedGroupResponse
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
}

/** Start and stop of all members' containers, ways into the group, block and end; what stops something asks before. */
export function GroupActions({ managed: { group, types }, isOff, isReadOnly }: GroupActionsProps) {
  const t = useTranslations('groups')
  const id = String(group.id)
  const { busy, error, run } = useTask()
  const [dialog, setDialog] = useState<'start' | 'add' | 'code' | 'hours' | AskProps['action']>()
  const [outcome, setOutcome] = useState<string>()
  const status = useRef<HTMLParagraphElement>(null)
  const changed = useMembersChanged(id)
  const close = () => setDialog(undefined)

  function perform(work: (signal: AbortSignal) => Promise<string>) {
    setOutcome(undefined)
    void run(async (signal) => {
      setOutcome(await work(signal))
      await changed()
      // A group that has ended has no button to end it.
      if (document.activeElement === document.body) status.current?.focus({ preventScroll: true })
    })
  }
  const params = { id }
  const act = (action: keyof typeof calls) =>
    perform(async (signal) => (await createApiClient(signal, timeout)[calls[action]]({ params })).message)
  const start = (container_type: string) =>
    perform(
      async (signal) =>
        (await createApiClient(signal, timeout).startGroup({ params, body: { container_type } })).message,
    )
  const end = () =>
    perform(async (signal) => {
      await createApiClient(signal, timeout).endGroup({ params })
      return t('act.ended')
    })
  const isEnded = hasEnded(group)
  return (
    <>
      <div className="actions" role="group" aria-label={t('act.title')}>
        {types.length > 0 && !isEnded && (
          <Button variant="primary" isOff={isOff || busy} onPress={() => setDialog('start')}>
            {t('act.start')}
          </Button>
        )}
        <Button isOff={isOff || busy} onPress={() => setDialog('stop')}>
          {t('act.stop')}
        </Button>
      </div>
      <div className="actions" role="group" aria-label={t('act.group')}>
        {!isReadOnly && (
          <>
            <Button variant="small" isOff={isOff} onPress={() => setDialog('add')}>
              {t('add.title')}
            </Button>
            {!isEnded && (
              <Button variant="small" isOff={isOff} onPress={() => setDialog('code')}>
                {t('code.title')}
              </Button>
            )}
          </>
        )}
        {types.length > 0 && !isEnded && (
          <Button variant="small" isOff={isOff} onPress={() => setDialog('hours')}>
            {t('hours.title')}
          </Button>
        )}
        {/* Not beside what is pressed in each lesson, and a phone has room for the class instead. */}
        <details className="group-rare">
          <summary>{t('act.rare')}</summary>
          <div className="actions">
            <Button variant="small" isOff={isOff || busy} onPress={() => setDialog('block')}>
              {t('act.block')}
            </Button>
            <Button variant="small" isOff={isOff || busy} onPress={() => act('unblock')}>
              {t('act.unblock')}
            </Button>
            {!isEnded && (
              <Button variant="small" isOff={isOff || busy} onPress={() => setDialog('end')}>
                {t('act.end')}
              </Button>
            )}
          </div>
        </details>
      </div>
      <Alert error={error} />
      <p role="status" ref={status} tabIndex={-1} className="group-status">
        {busy ? t('act.busy') : outcome}
      </p>
      {dialog === 'start' && <StartDialog types={types} onStart={start} onClose={close} />}
      {dialog === 'add' && <AddMembersDialog id={id} onClose={close} />}
      {dialog === 'hours' && <HoursDialog id={id} types={types} onClose={close} />}
      {dialog === 'code' && <JoinCodeDialog id={id} onClose={close} />}
      {(dialog === 'stop' || dialog === 'block' || dialog === 'end') && (
        <Ask action={dialog} onConfirm={dialog === 'end' ? end : () => act(dialog)} onClose={close} />
      )}
    </>
  )
}

interface AskProps {
  action: 'stop' | 'block' | 'end'
  onConfirm(): void
  onClose(): void
}

const asks = { stop: 'askStop', block: 'askBlock', end: 'askEnd' } as const

function Ask({ action, onConfirm, onClose }: AskProps) {
  const t = useTranslations('groups.act')
  return (
    <Dialog title={t(`${asks[action]}.title`)} onClose={onClose}>
      {(close) => (
        <>
          <p>{t(`${asks[action]}.effect`)}</p>
          <ConfirmActions cancel={t('cancel')} confirm={t(action)} close={close} onConfirm={onConfirm} />
        </>
      )}
    </Dialog>
  )
}
