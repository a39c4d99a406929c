import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'

export function Audit() {
  const t = useTranslations('admin.shell')
  return <AdminPage title={t('audit')}>{null}</AdminPage>
}
