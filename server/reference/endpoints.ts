import type Type from 'typebox'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { fieldsOf, sharedShapes } from './fields.ts'
import { code, page, table } from './markdown.ts'

const introduction = `All endpoints of the API. The same table as an OpenAPI 3.1 document is served at \`GET /api/openapi.json\`. Tokens are sent as \`Authorization: Bearer\` or as the cookie \`spawner_token\`, [API tokens](../how-to/use-api-tokens.md) in the header only. Every status other than 2xx has the body of [errors](errors.md); \`/metrics\` is described in [metrics](metrics.md).

| access | who may call |
| --- | --- |
| public | anyone |
| user | a user with a valid token; *blocked users: refused* means 403 for a blocked user, *may read* that the endpoint answers |
| admin | an administrator, or the operator |
| operator | the operator, through the operator's socket only; 404 for all others |

*Scope*: the scope that an API token needs; an endpoint without one is refused to every API token (403).

*CSRF token*: a browser that authenticates by cookie must also send the header \`X-CSRF-Token\`, which only Berth's own pages have. All \`POST\`, \`PATCH\` and \`DELETE\` endpoints with a token require it, all \`GET\` endpoints with the access admin, and the \`GET\` endpoints marked below. In addition to the statuses below every endpoint with a token answers 401 without one and 429 for more than 100 requests of one user at the same time, and every endpoint 500 on a failed dependency.`

/** docs/reference/endpoints.md */
export function endpointsPage(): string {
  const rows = Object.entries<Endpoint>(endpoints)
  const overview = table(
    ['endpoint', 'access', 'summary'],
    rows.map(([name, { method, path, access, summary }]) => [
      `[${code(`${method} ${path}`)}](#${name.toLowerCase()})`,
      access,
      summary,
    ]),
  )
  const sections = groupedEndpoints().map(({ title, rows }) => [`## ${title}`, ...rows.map(section)].join('\n\n'))
  const shapes = Object.entries(sharedShapes).map(
    ([name, schema]) => `### ${name}\n\n${table(['field', 'type', 'meaning'], fieldsOf(schema))}`,
  )
  return page('Endpoints', 'api/src/endpoints.ts', introduction, overview, ...sections, '## Shared objects', ...shapes)
}

/** Name in the table, and the row. */
export type NamedEndpoint = readonly [name: string, endpoint: Endpoint]

/** All endpoints below the title of their subject, in the order of the table. */
export function groupedEndpoints(): { readonly title: string; readonly rows: readonly NamedEndpoint[] }[] {
  const groups = Map.groupBy(Object.entries<Endpoint>(endpoints), ([, { path }]) => path.split('/')[2] ?? 'system')
  return [...groups].map(([group, rows]) => ({ title: titles[group] ?? group, rows }))
}

const titles: Readonly<Record<string, string>> = {
  auth: 'Sign-up and sign-in',
  user: 'The signed-in user',
  container: 'Own containers',
  admin: 'Administration',
  operator: 'Operator',
  groups: 'Groups',
  archives: 'Archives at the end of a term',
  legal: 'Legal texts',
  '.well-known': 'Keys and description',
  ssh: 'SSH server',
  'openapi.json': 'Description of the API',
  system: 'Health',
}

function section([name, endpoint]: NamedEndpoint): string {
  const { method, path, summary, stream, file, upload, redirects, refusals } = endpoint
  const notes = [...accessNotes(endpoint), `errors: ${Object.keys(refusals).join(', ') || 'none of its own'}`]
  const rows = fieldRows(endpoint)
  return [
    `### ${name}`,
    `${code(`${method} ${path}`)}: ${summary}.`,
    `${notes.join('; ')}.`,
    ...(redirects === undefined ? [] : [`Answers 302. ${redirects}.`]),
    ...(upload ? [`The body is a file: ${upload.map(code).join(' or ')}.`] : []),
    ...(file === undefined ? [] : [`Answers with a file, ${code(file)}.`]),
    ...(rows.length > 0 ? [table(fieldHead, rows)] : []),
    ...(stream
      ? [`Answers with server-sent events: ${Object.keys(stream).map(code).join(', ')}. See [events](events.md).`]
      : []),
  ].join('\n\n')
}

/** Who may call an endpoint, and with what, in Markdown. */
export function accessNotes(endpoint: Endpoint): string[] {
  return [
    `Access: ${endpoint.access}`,
    ...(endpoint.access === 'user' ? [`blocked users: ${endpoint.blocked ?? 'refused'}`] : []),
    ...(endpoint.scope ? [`scope: ${code(endpoint.scope)}`] : []),
    ...(endpoint.guarded ? ['CSRF token'] : []),
    ...(endpoint.status ? [`answers ${endpoint.status}`] : []),
    ...(endpoint.endsTakeover ? ['accepts an expired takeover'] : []),
  ]
}

/** Columns of `fieldRows`. */
export const fieldHead = ['in', 'field', 'type', 'meaning']

/** The fields of path, query, body and answer, and the headers of the answer, in Markdown. */
export function fieldRows({ params, query, body, response, headers }: Endpoint): string[][] {
  const parts: readonly (readonly [string, Type.TSchema | undefined])[] = [
    ['path', params],
    ['query', query],
    ['body', body],
    ['answer', response],
  ]
  const fields = parts.flatMap(([where, schema]) => fieldsOf(schema).map((row) => [where, ...row]))
  const more = Object.entries(headers ?? {}).map(([header, words]) => ['header', code(header), 'integer', words])
  return [...fields, ...more]
}
