import { auditActionsPage } from './audit-actions.ts'
import { commandLinePage } from './command-line.ts'
import { endpointsPage } from './endpoints.ts'
import { errorsPage } from './errors.ts'
import { eventsPage } from './events.ts'
import { metricsPage } from './metrics.ts'
import { settingsPage } from './settings.ts'
import { templatesPage } from './templates.ts'

/** Every generated page of docs/reference by its file name. */
export const pages: Readonly<Record<string, () => string>> = {
  'settings.md': settingsPage,
  'templates.md': templatesPage,
  'endpoints.md': endpointsPage,
  'errors.md': errorsPage,
  'metrics.md': metricsPage,
  'events.md': eventsPage,
  'audit-actions.md': auditActionsPage,
  'command-line.md': commandLinePage,
}
