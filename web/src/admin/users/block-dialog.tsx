import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import type { AdminUser, BlockPreview } from '@berth/api/schemas/administration/admin.ts'
import { createApiClient } from '#/api/api-client.ts'
import { TypeName } from '#/components/type-name.tsx'
import { Alert } from '#/components/alert.tsx'
import type { UserDialogProps } from './dialogs.tsx'
import { UserActionDialog } from './user-action-dialog.tsx'

/** Shows what blocking a user would do now, before it is done. */
export function BlockDialog(props: UserDialogProps) {
  const t = useTranslations('admin.users.block')
  const preview = useQuery({
    queryKey: ['block-preview', props.user.id],
    queryFn: ({ signal }) => createApiClient(signal).previewBlock({ params: { id: String(props.user.id) } }),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <UserActionDialog action="block" {...props}>
      <Alert error={preview.error ?? undefined} />
      {preview.isPending && <p role="status">{t('looking')}</p>}
      {preview.data && <Preview preview={preview.data} />}
    </UserActionDialog>
  )
}

function Preview({ preview: { sessions, containers } }: { preview: BlockPreview }) {
  const t = useTranslations('admin.users.block')
  const already = containers.filter(({ is_blocked }) => is_blocked)
  const running = containers.filter(({ is_blocked, is_running }) => is_running && !is_blocked)
  const idle = containers.filter(({ is_blocked, is_running }) => !is_running && !is_blocked)
  return (
    <div className="preview">
      <p>{t('sessions', { count: sessions })}</p>
      {containers.length === 0 && <p>{t('none')}</p>}
      <Types text={t('running', { count: running.length })} containers={running} />
      <Types text={t('idle', { count: idle.length })} containers={idle} />
      <Types text={t('already', { count: already.length })} containers={already} />
      <p>{t('files')}</p>
    </div>
  )
}

/** Some containers of one user, by type. */
export function Types({
  text,
  containers,
}: {
  text: string
  containers: readonly Pick<AdminUser['containers'][number], 'id' | 'container_type'>[]
}) {
  if (containers.length === 0) return null
  return (
    <div>
      <p>{text}</p>
      <ul className="types">
        {containers.map(({ id, container_type }) => (
          <li key={id} className="path">
            <TypeName type={container_type} />
          </li>
        ))}
      </ul>
    </div>
  )
}
