import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'

interface RunningNoteProps {
  name: string
  isOff: boolean
  onStop(): void
}

/** Says that nothing can be done with the home of a container that runs, and offers to stop it. */
export function RunningNote({ name, isOff, onStop }: RunningNoteProps) {
  const t = useTranslations('snapshots')
  const words = useTranslations('dashboard.confirm')
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="note">
      <p>{t('running')}</p>
      <Button variant="small" isOff={isOff} onPress={() => setOpen(true)}>
        <span aria-hidden>{t('stop')}</span>
        <span className="visually-hidden">{t('stopThis', { name })}</span>
      </Button>
      {isOpen && (
        <Dialog title={words('stop.title', { name })} onClose={() => setOpen(false)}>
          {(close) => (
            <>
              {/* Not the dialog of the cards: shared with this page, it would be a file of its own that the first page loads. */}
              <p>
                <b>{words('stop.keeps')}</b> {words('stop.loses')}
              </p>
              <ConfirmActions cancel={words('cancel')} confirm={t('stop')} close={close} onConfirm={onStop} />
            </>
          )}
        </Dialog>
      )}
    </div>
  )
}
