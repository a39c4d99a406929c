import type Type from 'typebox'
import type { Endpoint } from '@berth/api/endpoints.ts'

/** The parts of JSON Schema that a sample is made from. */
interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/**
 * A request as a command line for curl. `BERTH` is a variable of the shell with the address of the installation. The token comes from
 * a file, so that the list of processes does not show it.
 */
export function curlExample(endpoint: Endpoint): string {
  const { method, access, stream, upload, body, form } = endpoint
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...(stream ? ['--no-buffer'] : []),
    ...(access === 'public' ? [] : ['--header @berth-token']),
    ...(upload ? [`--header 'Content-Type: ${upload[0]}'`, '--data-binary @file'] : []),
    ...(body && needsBody(endpoint) ? bodyOptions(sampleOf(body as Schema), form) : []),
    `"$BERTH${addressOf(endpoint)}"`,
  ]
  return parts.join(' \\\n  ')
}

function bodyOptions(sample: unknown, form: true | undefined): string[] {
  if (!form) return ["--header 'Content-Type: application/json'", `--data ${quoted(JSON.stringify(sample))}`]
  return Object.entries(sample as object).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`)
}

/** The same with the typed client. What the client does not read at once, a stream or a file, is read with `fetch`. */
export function typescriptExample(name: string, endpoint: Endpoint): string {
  return isCalledByClient(endpoint) ? clientExample(name, endpoint) : fetchExample(endpoint)
}

/** Whether the typed client has a function for this endpoint that answers with JSON. */
const isCalledByClient = ({ stream, file, upload, redirects, form }: Endpoint) =>
  !stream && file === undefined && !upload && redirects === undefined && !form

function clientExample(name: string, endpoint: Endpoint): string {
  const { access, params, query, body } = endpoint
  const parts = {
    ...(params && { params: sampleOf(params as Schema) }),
    ...(query && isNeeded(query) && { query: sampleOf(query as Schema) }),
    ...(body && needsBody(endpoint) && { body: sampleOf(body as Schema) }),
  }
  const input = Object.keys(parts).length === 0 ? '' : literal(parts)
  const [send, names] =
    access === 'public' ? ['fetch', 'createClient'] : ['withToken(env.BERTH_TOKEN)', 'createClient, withToken']
  return [
    environment,
    `import { ${names} } from '@berth/api'`,
    '',
    `const api = createClient(${send}, env.BERTH)`,
    `const answer = await api.${name}(${input})`,
  ].join('\n')
}

const environment = `import { env } from 'node:process'`

function fetchExample(endpoint: Endpoint): string {
  const { method, access, upload, redirects } = endpoint
  const headers = [
    ...(access === 'public' ? [] : ['authorization: `Bearer ${env.BERTH_TOKEN}`']),
    ...(upload ? [`'content-type': '${upload[0]}'`] : []),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(upload ? ["body: await openAsBlob('file')"] : []),
    ...(redirects === undefined ? [] : ["redirect: 'manual'"]),
    ...(endpoint.form ? [`body: new URLSearchParams(${literal(sampleOf(endpoint.body as Schema))})`] : []),
  ]
  const call = options.length === 0 ? '' : `, {\n${options.map((each) => `  ${each},\n`).join('')}}`
  const readsBody = !upload && redirects === undefined && !endpoint.form
  return [
    environment,
    ...(upload ? ["import { openAsBlob } from 'node:fs'"] : []),
    ...(readsBody ? ["import { Writable } from 'node:stream'"] : []),
    '',
    `const response = await fetch(\`\${env.BERTH}${addressOf(endpoint)}\`${call})`,
    ...(readsBody ? ['await response.body.pipeTo(Writable.toWeb(process.stdout))'] : []),
  ].join('\n')
}

const needsBody = ({ body, isBodyOptional }: Endpoint) => body !== undefined && !isBodyOptional
const isNeeded = (schema: Type.TSchema) => ((schema as Schema).required ?? []).length > 0

/** The path with sample values, and the required parameters of the query. */
function addressOf({ path, query }: Endpoint): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(sampleOf({ type: 'string' }, name)))
  const sample = Object.entries(sampleOf({ type: 'object', ...((query ?? {}) as Schema) }) as object)
  if (sample.length === 0) return filled
  return `${filled}?${sample.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}

/** A value that fits a schema; optional fields are left out. @param name of the field, for a telling text */
export function sampleOf(schema: Schema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf?.[0]) return sampleOf(schema.anyOf[0], name)
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [key, sampleOf(schema.properties?.[key] ?? {}, key)] as const),
      )
    case 'array':
      return [sampleOf(schema.items ?? {}, name)]
    case 'integer':
    case 'number':
      return samples[name] ?? schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return samples[name] ?? name
  }
}

/** Values that say more than the name of their field. */
const samples: Readonly<Record<string, string | number>> = {
  email: 'ann@example.org',
  emails: 'ann@example.org',
  name: 'backup',
  expires_in: 2_592_000,
  id: '7',
  container_type: 'dev',
  reason: 'support',
  token: 'TOKEN',
}

/** JSON as people write it in TypeScript. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'string') return `'${value.replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).map(([key, each]) => `${key}: ${literal(each)}`)
  return `{ ${entries.join(', ')} }`
}

/** One word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
