import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import { useId, useRef } from 'react'
import { useTranslations } from 'use-intl/react'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { LaunchableOptions } from '#/groups/hours/launchable-options.tsx'

interface StartDialogProps {
  types: ManagedGroupResponse['types']
  onStart(type: string): void
  onClose(): void
}

/** Asks which type of the group is to be started for all members. */
export function StartDialog({ types, onStart, onClose }: StartDialogProps) {
  const t = useTranslations('groups.act')
  const id = useId()
  const field = useRef<HTMLSelectElement>(null)
  const [first] = types
  if (!first) return null
  return (
    <Dialog title={t('askStart.title')} onClose={onClose}>
      {(close) => (
        <>
          <p>{t('askStart.effect')}</p>
          {types.length > 1 && (
            <div className="group-form group-field">
              <label htmlFor={id}>{t('askStart.type')}</label>
              <select id={id} ref={field} defaultValue={first.type}>
                <LaunchableOptions types={types} />
              </select>
            </div>
          )}
          <ConfirmActions
            cancel={t('cancel')}
            confirm={t('start')}
            close={close}
            onConfirm={() => onStart(field.current?.value ?? first.type)}
          />
        </>
      )}
    </Dialog>
  )
}
