import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { SubmitButton } from '#/components/submit-button.tsx'

interface UploadDialogProps {
  entry: ContainerEntry
  onClose(): void
  onUpload(file: File): void
}

/** Asks for an archive, and says where it goes. */
export function UploadDialog({ entry: { display_name: name }, onClose, onUpload }: UploadDialogProps) {
  const t = useTranslations('snapshots.upload')
  const cancel = useTranslations('snapshots.ask')('cancel')
  const field = useId()
  const [file, setFile] = useState<File>()
  const [isMissing, setMissing] = useState(false)
  return (
    <Dialog title={t('title', { name })} onClose={onClose}>
      {(close) => (
        <form
          className="group-form"
          onSubmit={(event) => {
            event.preventDefault()
            if (!file) return setMissing(true)
            close()
            onUpload(file)
          }}
        >
          <p>{t('effect')}</p>
          <div className="group-field">
            <label htmlFor={field}>{t('file')}</label>
            <input
              id={field}
              type="file"
              accept=".tar,.tgz,.gz,application/x-tar,application/gzip"
              aria-describedby={`${field}-hint`}
              aria-invalid={isMissing}
              onChange={({ target }) => {
                setFile(target.files?.[0])
                setMissing(false)
              }}
            />
            <p className="hint" id={`${field}-hint`} role={isMissing ? 'alert' : undefined}>
              {isMissing ? t('none') : t('hint')}
            </p>
          </div>
          <div className="actions end">
            <Button onPress={close}>{cancel}</Button>
            <SubmitButton>{t('start')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}
