import { type PagePath, pages } from '#/paths.ts'
import { PageBoundary } from '#/components/page/page-boundary.tsx'
import { AdminI18nProvider } from './admin-i18n-provider.tsx'
import { Audit } from './pages/audit.tsx'
import { Containers } from './pages/containers.tsx'
import { Groups } from './pages/groups.tsx'
import { Overview } from './pages/overview.tsx'
import { System } from './pages/system.tsx'
import { TermEnd } from './pages/term-end.tsx'
import { Templates } from './pages/templates.tsx'
import { Tokens } from './pages/tokens.tsx'
import { Usage } from './pages/usage.tsx'
import { Users } from './pages/users.tsx'
import { BulkJobsProvider } from './bulk/bulk-job-runner.tsx'
import '#/styles/admin/pages.css'
import '#/styles/admin/labels.css'
import '#/styles/admin/controls.css'
import '#/styles/admin/figures.css'
import '#/styles/admin/overview.css'
import '#/styles/admin/system.css'
import '#/styles/admin/plots.css'
import '#/styles/admin/audit.css'
import '#/styles/admin/audit-entry.css'
import '#/styles/admin/table/table-tools.css'
import '#/styles/admin/table/table.css'
import '#/styles/admin/table/table-head.css'
import '#/styles/admin/table/table-cards.css'
import '#/styles/admin/table/bottom-bar.css'
import '#/styles/admin/table/menu.css'
import '#/styles/admin/table/toasts.css'
import '#/styles/admin/dialogs.css'
import '#/styles/admin/invitations.css'
import '#/styles/admin/tokens.css'
import '#/styles/admin/templates.css'
import '#/styles/admin/usage.css'
import '#/styles/groups.css'

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
