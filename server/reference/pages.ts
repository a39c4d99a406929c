import { auditActionsPage } from './audit-actions.ts'
import { brandingPage } from './branding.ts'
import { cataloguePage } from './catalogue.ts'
import { commandLinePage } from './command-line.ts'
import { decisionsPage } from './decisions.ts'
import { endpointsPage } from './endpoints.ts'
import { errorsPage } from './errors.ts'
import { eventsPage } from './events.ts'
import { metricsPage } from './metrics.ts'
import { openidProvidersPage } from './openid-providers.ts'
import { settingsPage } from './settings.ts'
import { templatesPage } from './templates.ts'

/** Every generated page by its path in the docs folder. */
export const pages: Readonly<Record<string, () => string>> = {
  'reference/settings.md': settingsPage,
  'reference/templates.md': templatesPage,
  'reference/catalogue.md': cataloguePage,
  'reference/openid-providers.md': openidProvidersPage,
  'reference/branding.md': brandingPage,
  'reference/endpoints.md': endpointsPage,
  'reference/errors.md': errorsPage,
  'reference/metrics.md': metricsPage,
  'reference/events.md': eventsPage,
  'reference/audit-actions.md': auditActionsPage,
  'reference/command-line.md': commandLinePage,
  'explanation/decisions/README.md': decisionsPage,
}
