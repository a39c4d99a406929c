import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { AddMembersDialog } from './add-members-dialog.tsx'
import { JoinCodeDialog } from './join-code-dialog.tsx'
import { useMembersChanged } from './use-members.ts'

const calls = { stop: 'stopGroup', block: 'blockGroup', unblock: 'unblockGroup' } as const
/** The server waits for stops for some seconds only. */
const timeout = 60_000

interface GroupActionsProps {
  id: string
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
}

/** Ways into the group, and stop, block and unblock of all members' containers; the first two ask before. */
export function GroupActions({ id, isOff, isReadOnly }: GroupActionsProps) {
  const t = useTranslations('groups')
  const { busy, error, run } = useTask()
  const [dialog, setDialog] = useState<'add' | 'code' | 'stop' | 'block'>()
  const [outcome, setOutcome] = useState<string>()
  const changed = useMembersChanged(id)
  const close = () => setDialog(undefined)

  function act(action: keyof typeof calls) {
    setOutcome(undefined)
    void run(async (signal) => {
      const { message } = await createApiClient(signal, timeout)[calls[action]]({ params: { id } })
      setOutcome(message)
      await changed()
    })
  }
  return (
    <>
      {!isReadOnly && (
        <div className="actions">
          <Button variant="primary" isOff={isOff} onPress={() => setDialog('add')}>
            {t('add.title')}
          </Button>
          <Button isOff={isOff} onPress={() => setDialog('code')}>
            {t('code.title')}
          </Button>
        </div>
      )}
      <div className="actions" role="group" aria-label={t('act.title')}>
        {(['stop', 'block'] as const).map((action) => (
          <Button key={action} variant="small" isOff={isOff || busy} onPress={() => setDialog(action)}>
            {t(`act.${action}`)}
          </Button>
        ))}
        <Button variant="small" isOff={isOff || busy} onPress={() => act('unblock')}>
          {t('act.unblock')}
        </Button>
      </div>
      <Alert error={error} />
      <p role="status">{busy ? t('act.busy') : outcome}</p>
      {dialog === 'add' && <AddMembersDialog id={id} onClose={close} />}
      {dialog === 'code' && <JoinCodeDialog id={id} onClose={close} />}
      {(dialog === 'stop' || dialog === 'block') && (
        <Ask action={dialog} onConfirm={() => act(dialog)} onClose={close} />
      )}
    </>
  )
}

interface AskProps {
  action: 'stop' | 'block'
  onConfirm(): void
  onClose(): void
}

function Ask({ action, onConfirm, onClose }: AskProps) {
  const t = useTranslations('groups.act')
  const ask = action === 'block' ? 'askBlock' : 'askStop'
  return (
    <Dialog title={t(`${ask}.title`)} onClose={onClose}>
      {(close) => (
        <>
          <p>{t(`${ask}.effect`)}</p>
          <ConfirmActions cancel={t('cancel')} confirm={t(action)} close={close} onConfirm={onConfirm} />
        </>
      )}
    </Dialog>
  )
}
