import { useTranslations } from 'use-intl/react'
import type { UserDetails } from '@berth/api/schemas/administration/admin.ts'
import { SheetFact } from '#/admin/details/detail-sheet.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { canAct } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'

interface ExtraDiskProps {
  details: Pick<UserDetails, 'user' | 'containers'>
  onChange(): void
}

/** What a user may have beyond the disk limits; nothing where homes are not measured, and none is set. */
export function ExtraDisk({ details: { user, containers }, onChange }: ExtraDiskProps) {
  const t = useTranslations('admin.users.details')
  const { bytes } = useQuantities()
  const { extra_disk_bytes: extra = 0 } = user
  if (extra === 0 && containers.every(({ home_bytes }) => home_bytes === undefined)) return null
  return (
    <SheetFact name={t('extraDisk')}>
      <span className="fact-action">
        {extra === 0 ? t('noExtraDisk') : bytes(extra)}
        <Button variant="small" isOff={!canAct()} onPress={onChange}>
          <ShortLabel text={t('change')} name={t('changeExtraDisk')} />
        </Button>
      </span>
    </SheetFact>
  )
}
