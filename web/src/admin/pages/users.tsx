import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'

export function Users() {
  const t = useTranslations('admin.shell')
  return <AdminPage title={t('users')}>{null}</AdminPage>
}
