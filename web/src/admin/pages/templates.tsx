import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { QueryError } from '#/admin/query-error.tsx'
import { TemplateRow } from '#/admin/templates/template-row.tsx'
import { useTemplates } from '#/admin/templates/use-templates.ts'

/** The configured templates, and who runs an older version of one. */
export function Templates() {
  const t = useTranslations('admin')
  const query = useTemplates()
  return (
    <AdminPage title={t('shell.templates')}>
      <p className="hint about">{t('templates.about')}</p>
      <QueryError query={query} />
      {query.data && (
        <ul className="rows" aria-label={t('templates.list')}>
          {query.data.templates.map((template) => (
            <TemplateRow key={template.type} template={template} />
          ))}
        </ul>
      )}
    </AdminPage>
  )
}
