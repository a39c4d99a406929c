import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { FoldersDialog } from './folders-dialog.tsx'
import { UploadDialog } from './upload-dialog.tsx'

interface HomeActionsProps {
  entry: ContainerEntry
  isOff: boolean
  /** Whether a reset leads to files of the template: without any there is nothing to reset to. */
  hasStarterFiles: boolean
  onTake(): void
  onUpload(file: File): void
  onReset(): void
}

/** What can be done with a home. */
export function HomeActions({ entry, isOff, hasStarterFiles, onTake, onUpload, onReset }: HomeActionsProps) {
  const t = useTranslations('snapshots')
  const [open, setOpen] = useState<'upload' | 'folders' | 'reset'>()
  const { display_name: name } = entry
  const close = () => setOpen(undefined)
  return (
    <>
      <p className="actions">
        <Button isOff={isOff} onPress={onTake}>
          <span aria-hidden>{t('take')}</span>
          <span className="visually-hidden">{t('takeThis', { name })}</span>
        </Button>
        <Button variant="small" isOff={isOff} onPress={() => setOpen('upload')}>
          <span aria-hidden>{t('upload.open')}</span>
          <span className="visually-hidden">{t('upload.openThis', { name })}</span>
        </Button>
        <Button variant="small" onPress={() => setOpen('folders')}>
          <span aria-hidden>{t('folders.open')}</span>
          <span className="visually-hidden">{t('folders.openThis', { name })}</span>
        </Button>
        {hasStarterFiles && (
          <Button variant="small" isOff={isOff} onPress={() => setOpen('reset')}>
            <span aria-hidden>{t('resetHome')}</span>
            <span className="visually-hidden">{t('resetThis', { name })}</span>
          </Button>
        )}
      </p>
      {open === 'upload' && <UploadDialog entry={entry} onClose={close} onUpload={onUpload} />}
      {open === 'folders' && <FoldersDialog entry={entry} onClose={close} />}
      {open === 'reset' && (
        <Dialog title={t('askReset.title', { name })} onClose={close}>
          {(done) => (
            <>
              <p>{t('askReset.effect')}</p>
              <ConfirmActions
                cancel={t('ask.cancel')}
                confirm={t('askReset.confirm')}
                close={done}
                onConfirm={onReset}
              />
            </>
          )}
        </Dialog>
      )}
    </>
  )
}
