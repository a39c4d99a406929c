import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { createApiClient } from '#/api/api-client.ts'
import { useTypeName } from '#/components/type-name.tsx'
import { ActionDialog } from '#/admin/action-dialog.tsx'

interface ContainerDialogProps {
  container: ListedContainer
  /** Runs the action and shows its result. */
  run(signal: AbortSignal): Promise<void>
  onClose(): void
}

/** Says what a block means for the user of the container. */
export function BlockContainerDialog({ container, ...rest }: ContainerDialogProps) {
  const t = useTranslations('admin.containers')
  const name = t('name', { type: useTypeName()(container.container_type), email: container.email })
  return (
    <ActionDialog title={t('block.title', { name })} confirm={t('block.confirm')} busy={t('block.busy')} {...rest}>
      <p>{t('block.text')}</p>
    </ActionDialog>
  )
}

/** Deletes a container, optionally with its home. */
export function DeleteContainerDialog({
  container,
  onGone,
  onClose,
}: Pick<ContainerDialogProps, 'container' | 'onClose'> & { onGone(): Promise<void> }) {
  const t = useTranslations('admin.containers')
  const [isPurge, setPurge] = useState(false)
  const name = t('name', { type: useTypeName()(container.container_type), email: container.email })
  async function run(signal: AbortSignal) {
    await createApiClient(signal).deleteContainer({
      params: { id: String(container.id) },
      query: { purge: String(isPurge) },
    })
    await onGone()
  }
  return (
    <ActionDialog
      title={t('delete.title', { name })}
      confirm={t('delete.confirm')}
      busy={t('delete.busy')}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>{t('delete.text')}</p>
      {!isPurge && <p>{t('delete.files')}</p>}
      <label className="check-line">
        <input type="checkbox" checked={isPurge} onChange={(event) => setPurge(event.target.checked)} />
        {t('delete.purge')}
      </label>
    </ActionDialog>
  )
}
