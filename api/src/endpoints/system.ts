import type { Endpoint } from '../endpoint.ts'
import * as branding from '../schemas/branding.ts'
import { ErrorBody } from '../schemas/error.ts'
import * as system from '../schemas/administration/system.ts'

/** Discovery and health checks. */
export const systemEndpoints = {
  jwks: {
    method: 'GET',
    path: '/api/.well-known/jwks.json',
    access: 'public',
    anyNode: true,
    summary: 'Public keys for verifying access tokens',
    response: system.JwksResponse,
    refusals: {},
  },
  openApi: {
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    anyNode: true,
    summary: 'This API as an OpenAPI 3.1 document',
    response: system.OpenApiResponse,
    refusals: {},
  },
  legalText: {
    method: 'GET',
    path: '/api/legal/{text}',
    access: 'public',
    summary: 'Imprint or privacy notice of the installation, where Berth serves it',
    params: branding.LegalTextParams,
    response: branding.LegalTextResponse,
    refusals: { 404: ErrorBody },
  },
  health: {
    method: 'GET',
    path: '/healthz',
    access: 'public',
    summary: 'Liveness: the process answers',
    response: system.HealthResponse,
    refusals: {},
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    access: 'public',
    summary: 'Readiness: store and engine answer',
    response: system.ReadyResponse,
    refusals: { 503: system.ReadyResponse },
  },
} as const satisfies Record<string, Endpoint>
