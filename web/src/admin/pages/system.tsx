import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'

export function System() {
  const t = useTranslations('admin.shell')
  return <AdminPage title={t('system')}>{null}</AdminPage>
}
