import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import type { AdminUser, ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { LatestEntries } from '#/admin/audit/latest-entries.tsx'
import { DetailSheet, SheetFact } from '#/admin/details/detail-sheet.tsx'
import { Day, RelativeTime } from '#/admin/instants.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { ExtraDisk } from '#/admin/users/extra-disk.tsx'
import { createApiClient } from '#/api/api-client.ts'
import type { RowAction } from '#/components/menu.tsx'
import { useTypeName, useTypes } from '#/components/type-name.tsx'
import { TypeSign } from '#/components/type-sign.tsx'
import { ContainerState } from './container-state.tsx'

interface ContainerSheetProps {
  container: ListedContainer
  actions: readonly RowAction[]
  /** @param owner of the container */
  onExtraDisk(owner: AdminUser): void
  onClose(): void
}

/** Everything about one container beside the list: state, image, files, groups of its owner, and the audit log. */
export function ContainerSheet({ container, actions, onExtraDisk, onClose }: ContainerSheetProps) {
  const t = useTranslations('admin.containers')
  const { bytes } = useQuantities()
  const { id, user_id, container_type: type, email, template_image: image } = container
  const name = useTypeName()(type)
  const icon = useTypes().data?.find((each) => each.type === type)?.icon
  // What it says beside the list is of the owner's; without it the sheet is complete all the same.
  const { data } = useQuery({
    queryKey: ['admin', 'user', user_id],
    queryFn: ({ signal }) => createApiClient(signal).readUser({ params: { id: String(user_id) } }),
    staleTime: 0,
    gcTime: 0,
  })
  const home = data?.containers.find((each) => each.id === id)?.home_bytes
  return (
    <DetailSheet title={t('name', { type: name, email })} actions={actions} onClose={onClose}>
      <p className="sheet-name">
        <TypeSign icon={icon} />
        <ContainerState container={container} />
      </p>
      <dl className="facts">
        <SheetFact name={t('columns.email')}>
          <span className="address">{email}</span>
        </SheetFact>
        {data && data.groups.length > 0 && (
          <SheetFact name={t('details.groups')}>{data.groups.map((each) => each.name).join(', ')}</SheetFact>
        )}
        <SheetFact name={t('columns.template_image')}>
          <span className="path">{image}</span>
        </SheetFact>
        {home !== undefined && <SheetFact name={t('details.disk')}>{bytes(home)}</SheetFact>}
        {data && <ExtraDisk details={data} onChange={() => onExtraDisk(data.user)} />}
        <SheetFact name={t('columns.last_used')}>
          <RelativeTime at={container.last_used} />
        </SheetFact>
        <SheetFact name={t('columns.created_at')}>
          <Day at={container.created_at} />
        </SheetFact>
        <SheetFact name={t('details.id')}>{id}</SheetFact>
      </dl>
      <LatestEntries target={`container:${id}`} />
    </DetailSheet>
  )
}
