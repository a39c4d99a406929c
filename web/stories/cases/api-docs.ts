import { endpoints } from '@berth/api/endpoints.ts'
import { ann } from '../user-fixtures.ts'
import { never, Refused, type Story } from '../story.ts'

/** Part of an OpenAPI document as `GET /api/openapi.json` answers it: the schemas of the endpoint table are not in the bundle. */
const string = (description?: string) => ({ type: 'string', ...(description && { description }) })
const json = (schema: object) => ({ 'application/json': { schema } })
const refusal = (description: string) => ({ description, content: json({}) })
const token = {
  type: 'object',
  required: ['id', 'name', 'scopes'],
  properties: {
    id: { type: 'integer' },
    name: string(),
    scopes: { type: 'array', items: { anyOf: [{ const: 'containers:read' }, { const: 'containers:write' }] } },
  },
}
const signedIn = [{ bearer: [] }, { cookie: [] }]
const openApi = {
  servers: [{ url: 'https://spawner.example.org' }],
  paths: {
    [endpoints.logIn.path]: {
      post: {
        operationId: 'logIn',
        summary: 'Mail a login link to a registered address',
        tags: ['auth'],
        parameters: [],
        requestBody: { content: json({ type: 'object', required: ['email'], properties: { email: string() } }) },
        responses: { 200: { description: 'Success', content: json({ properties: { message: string() } }) } },
      },
    },
    [endpoints.createApiToken.path]: {
      post: {
        operationId: 'createApiToken',
        summary: 'Make an API token; the answer is the only place that shows it',
        tags: ['user'],
        security: signedIn,
        parameters: [],
        requestBody: {
          content: json({
            type: 'object',
            required: ['name', 'scopes', 'expires_in'],
            properties: {
              ...token.properties,
              name: string('What the token is for'),
              expires_in: { type: 'integer', minimum: 1, description: 'Seconds, at most one year' },
            },
          }),
        },
        responses: {
          200: {
            description: 'Success',
            content: json({
              type: 'object',
              required: ['token'],
              properties: { token: string('Shown here and never again'), ...token.properties },
            }),
          },
          400: refusal('Bad request'),
          401: refusal('No valid access token'),
        },
      },
    },
    [endpoints.launchContainer.path]: {
      post: {
        operationId: 'launchContainer',
        summary: 'Start the container of this type, or create it',
        tags: ['container'],
        security: [...signedIn, { apiToken: ['containers:write'] }],
        parameters: [{ name: 'container_type', in: 'path', required: true, schema: string() }],
        responses: {
          200: { description: 'Success', content: json({ properties: { service_url: string(), status: string() } }) },
          403: refusal('Access denied: blocked, not verified, or not an administrator'),
        },
      },
    },
  },
}

const page = { path: '/api/docs', answers: { me: ann, openApi } } as const

/** API reference. */
export const apiDocsStories: readonly Story[] = [
  { name: 'api-docs/all', ...page },
  {
    name: 'api-docs/open',
    ...page,
    press: [`POST ${endpoints.createApiToken.path}Make an API token; the answer is the only place that shows it`],
  },
  { name: 'api-docs/found', ...page, press: ['Search = launch'] },
  {
    name: 'api-docs/signed-out',
    ...page,
    boot: { signed_in: false, csrf: null, email: null },
    answers: { me: new Refused(401, 'Sign in first.'), openApi },
  },
  { name: 'api-docs/loading', ...page, answers: { me: ann, openApi: never } },
]
