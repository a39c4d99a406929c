import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'

export function Overview() {
  const t = useTranslations('admin.shell')
  return <AdminPage title={t('overview')}>{null}</AdminPage>
}
