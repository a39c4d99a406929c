import { useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import type { TemplateEntry, UpdateMode } from './template-row.tsx'
import { templatesKey } from './use-templates.ts'

interface UpdateDialogProps {
  template: TemplateEntry
  mode: UpdateMode
  onClose(): void
}

/** Says what an update does to the people who use the containers, and begins it. */
export function UpdateDialog({ template: { type, older }, mode, onClose }: UpdateDialogProps) {
  const t = useTranslations('admin.templates.mode')
  const client = useQueryClient()
  const { notify } = useBulkJobs()
  async function run(signal: AbortSignal) {
    const params = { container_type: type }
    const { message } = await createApiClient(signal).updateContainersOf({ params, body: { mode } })
    notify({ title: message })
    await client.invalidateQueries({ queryKey: templatesKey })
  }
  return (
    <ActionDialog
      title={t(`${mode}.title`, { type: useTypeName()(type), count: older.length })}
      confirm={t(`${mode}.open`)}
      busy={t('busy')}
      isGrave={mode === 'now'}
      run={run}
      onClose={onClose}
    >
      <p>{t(`${mode}.effect`)}</p>
    </ActionDialog>
  )
}
