import type { Snapshot } from '@berth/api/schemas/features/snapshots.ts'
import { useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { ButtonMenu } from '#/components/button-menu.tsx'
import { Button, ShortLabel, SubmitButton } from '#/components/button.tsx'
import { ConfirmDialog, Dialog, EndButton } from '#/components/dialog.tsx'
import { Field } from '#/components/field.tsx'
import { Time } from '#/time/time.tsx'
import { useSize } from './use-size.ts'

interface SnapshotRowProps {
  snapshot: Snapshot
  isOff: boolean
  /** @param path in the home; empty for all */
  onRestore(path: string): void
  onDownload(): void
  onRemove(): void
}

/** One snapshot; restoring asks what, and says where it goes. */
export function SnapshotRow({ snapshot, isOff, onRestore, onDownload, onRemove }: SnapshotRowProps) {
  const t = useTranslations('snapshots')
  const format = useFormatter()
  const [asked, setAsked] = useState<'restore' | 'remove'>()
  const at = format.dateTime(new Date(snapshot.created_at), { dateStyle: 'medium', timeStyle: 'short' })
  const size = useSize()(snapshot.bytes)
  return (
    <li className="row">
      <div>
        <h3>
          <Time at={snapshot.created_at} />
        </h3>
        <p className="hint">{t(snapshot.reason, { size })}</p>
      </div>
      <div className="member-actions">
        <Button variant="small" isOff={isOff} onPress={() => setAsked('restore')}>
          <ShortLabel text={t('restore')} name={t('restoreThis', { at })} />
        </Button>
        <ButtonMenu
          label={t('moreOf', { at })}
          actions={[
            {
              key: 'download',
              text: t('download'),
              label: <ShortLabel text={t('download')} name={t('downloadThis', { at })} />,
              isOff,
              run: onDownload,
            },
            {
              key: 'remove',
              text: t('remove'),
              label: <ShortLabel text={t('remove')} name={t('removeThis', { at })} />,
              isOff,
              run: () => setAsked('remove'),
            },
          ]}
        />
      </div>
      {asked === 'remove' && (
        <ConfirmDialog
          title={t('askRemove.title', { at })}
          confirm={t('remove')}
          onConfirm={onRemove}
          onClose={() => setAsked(undefined)}
        >
          <p>{t('askRemove.effect')}</p>
        </ConfirmDialog>
      )}
      {asked === 'restore' && (
        <Dialog title={t('ask.title')} onClose={() => setAsked(undefined)}>
          {(close) => (
            <form
              className="group-form"
              onSubmit={(event) => {
                event.preventDefault()
                const path = String(new FormData(event.currentTarget).get('path') ?? '').trim()
                close()
                onRestore(path)
              }}
            >
              <p>{t('ask.effect')}</p>
              <Field label={t('ask.path')} hint={t('ask.hint')}>
                {(control) => <input {...control} name="path" autoComplete="off" spellCheck={false} />}
              </Field>
              <div className="actions end">
                <EndButton word="cancel" onPress={close} />
                <SubmitButton>{t('restore')}</SubmitButton>
              </div>
            </form>
          )}
        </Dialog>
      )}
    </li>
  )
}
