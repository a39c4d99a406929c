import { openApiDocument } from '@berth/api/openapi.ts'
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

/** What set-up and `npm run docs:reference` write into the docs folder, which Git ignores: the pages, and the OpenAPI document. */
export const generatedFiles: Readonly<Record<string, () => string>> = {
  ...pages,
  'reference/openapi.json': () => `${JSON.stringify(openApiDocument(exampleServer), null, 2)}\n`,
}

/** Address of an installation with the default settings; `GET /api/openapi.json` has that of the installation. */
const exampleServer = 'http://spawner.berth.localhost:8080'
