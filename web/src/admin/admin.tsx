import { Audit } from '#/admin/audit/audit.tsx'
import { BulkJobsProvider } from '#/admin/bulk/bulk-job-runner.tsx'
import { Containers } from '#/admin/containers/containers.tsx'
import { Groups } from '#/admin/groups/groups.tsx'
import { Overview } from '#/admin/overview/overview.tsx'
import { System } from '#/admin/system/system.tsx'
import { TermEnd } from '#/admin/term-end/term-end.tsx'
import { Usage } from '#/admin/usage/usage.tsx'
import { Users } from '#/admin/users/users.tsx'
import { I18nProvider } from '#/i18n/i18n-provider.tsx'
import { groups } from '#/messages/groups.ts'
import { tokens } from '#/messages/tokens.ts'
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
import { admin } from './catalogues.ts'
import { Templates } from './templates.tsx'
import { Tokens } from './tokens.tsx'

const texts = { tokens, groups, admin }

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
    <I18nProvider texts={texts}>
      <BulkJobsProvider>
        <PageBoundary key={page}>
          <Current />
        </PageBoundary>
      </BulkJobsProvider>
    </I18nProvider>
  )
}
