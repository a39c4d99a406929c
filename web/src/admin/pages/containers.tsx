import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'

export function Containers() {
  const t = useTranslations('admin.shell')
  return <AdminPage title={t('containers')}>{null}</AdminPage>
}
