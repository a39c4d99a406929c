import { endpoint, type Endpoint } from '../endpoint.ts'
import * as branding from '../schemas/branding.ts'
import { ErrorBody } from '../schemas/error.ts'
import * as system from '../schemas/administration/system.ts'

/** Discovery and health checks. */
export const systemEndpoints = {
  jwks: endpoint('GET /api/.well-known/jwks.json', 'public', {
    anyNode: true,
    summary: 'Public keys for verifying access tokens',
    response: system.JwksResponse,
    refusals: {},
  }),
  openApi: endpoint('GET /api/openapi.json', 'public', {
    anyNode: true,
    summary: 'This API as an OpenAPI 3.1 document',
    response: system.OpenApiResponse,
    refusals: {},
  }),
  legalText: endpoint('GET /api/legal/{text}', 'public', {
    summary: 'Imprint or privacy notice of the installation, where Berth serves it',
    params: branding.LegalTextParams,
    response: branding.LegalTextResponse,
    refusals: { 404: ErrorBody },
  }),
  health: endpoint('GET /healthz', 'public', {
    summary: 'Liveness: the process answers',
    response: system.HealthResponse,
    refusals: {},
  }),
  ready: endpoint('GET /readyz', 'public', {
    summary: 'Readiness: store and engine answer',
    response: system.ReadyResponse,
    refusals: { 503: system.ReadyResponse },
  }),
} as const satisfies Record<string, Endpoint>
