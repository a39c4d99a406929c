import type { ReactNode } from 'react'
import { Audit } from '#/admin/audit/audit.tsx'
import { BulkJobsProvider } from '#/admin/bulk/bulk-job-runner.tsx'
import { Containers } from '#/admin/containers/containers.tsx'
import { Groups } from '#/admin/groups/groups.tsx'
import { Overview } from '#/admin/overview/overview.tsx'
import { System } from '#/admin/system/system.tsx'
import { TermEnd } from '#/admin/term-end/term-end.tsx'
import { Usage } from '#/admin/usage/usage.tsx'
import { Users } from '#/admin/users/users.tsx'
import { de as germanForAll, en as englishForAll } from '#/i18n/catalogues.ts'
import { TranslationProvider } from '#/i18n/i18n-provider.tsx'
import { germanGroups, groups as englishGroups } from '#/messages/groups.ts'
import { germanTokens, tokens as englishTokens } from '#/messages/tokens.ts'
import { PageBoundary } from '#/page/page-boundary.tsx'
import { pages, type PagePath } from '#/paths.ts'
import './admin.css'
import '#/admin/overview/overview.css'
import '#/admin/plots/plots.css'
import '#/admin/audit/audit.css'
import '#/admin/table/table.css'
import './dialogs.css'
import '#/admin/usage/usage.css'
import '#/groups/groups.css'
import { admin as english, germanAdmin as german } from './catalogues.ts'
import { Templates } from './templates.tsx'
import { Tokens } from './tokens.tsx'

const components = {
  [pages.admin]: Overview,
  [pages.adminUsers]: Users,
  [pages.adminContainers]: Containers,
  [pages.adminGroups]: Groups,
  [pages.adminTermEnd]: TermEnd,
  [pages.adminTemplates]: Templates,
  [pages.adminUsage]: Usage,
  [pages.adminAudit]: Audit,
  [pages.adminTokens]: Tokens,
  [pages.adminSystem]: System,
} as const satisfies Partial<Record<PagePath, unknown>>

export type AdminPath = keyof typeof components

/** The administration pages and what only they need, in a chunk of their own. */
export function Admin({ page }: { page: AdminPath }) {
  const Current = components[page]
  return (
    <AdminI18nProvider>
      <BulkJobsProvider>
        <PageBoundary key={page}>
          <Current />
        </PageBoundary>
      </BulkJobsProvider>
    </AdminI18nProvider>
  )
}

const catalogues = {
  en: { ...englishForAll, tokens: englishTokens, groups: englishGroups, admin: english },
  de: { ...germanForAll, tokens: germanTokens, groups: germanGroups, admin: german },
}

/** As `I18nProvider`, with the texts for administrators. */
function AdminI18nProvider({ children }: { children: ReactNode }) {
  return <TranslationProvider catalogues={catalogues}>{children}</TranslationProvider>
}
