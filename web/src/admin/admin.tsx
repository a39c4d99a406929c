import type { PagePath } from '#/paths.ts'
import { pages } from '#/paths.ts'
import { AdminWords } from './admin-words.tsx'
import { Audit } from './pages/audit.tsx'
import { Containers } from './pages/containers.tsx'
import { Overview } from './pages/overview.tsx'
import { System } from './pages/system.tsx'
import { Users } from './pages/users.tsx'
import { WorkProvider } from './table/work.tsx'
import '#/styles/admin/pages.css'
import '#/styles/admin/labels.css'
import '#/styles/admin/controls.css'
import '#/styles/admin/figures.css'
import '#/styles/admin/overview.css'
import '#/styles/admin/system.css'
import '#/styles/admin/plots.css'
import '#/styles/admin/audit.css'
import '#/styles/admin/audit-entry.css'
import '#/styles/admin/table-tools.css'
import '#/styles/admin/table.css'
import '#/styles/admin/table-head.css'
import '#/styles/admin/table-cards.css'
import '#/styles/admin/bottom-bar.css'
import '#/styles/admin/menu.css'
import '#/styles/admin/toasts.css'
import '#/styles/admin/dialogs.css'
import '#/styles/admin/invitations.css'

const components = {
  [pages.admin]: Overview,
  [pages.adminUsers]: Users,
  [pages.adminContainers]: Containers,
  [pages.adminAudit]: Audit,
  [pages.adminSystem]: System,
} as const satisfies Partial<Record<PagePath, unknown>>

export type AdminPath = keyof typeof components

/** The pages of administrators, and what only they need; one chunk of its own. */
export function Admin({ page }: { page: AdminPath }) {
  const Current = components[page]
  return (
    <AdminWords>
      <WorkProvider>
        <Current />
      </WorkProvider>
    </AdminWords>
  )
}
