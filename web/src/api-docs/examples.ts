import { sampleOf, type Operation, type Parameter } from './read-document.ts'

/**
 * A request as a command line for curl. The token comes from a file, so that the list of processes does not show it.
 */
export function curlExample(server: string, operation: Operation): string {
  const { method, access, isStream, body, needsBody } = operation
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...(isStream ? ['--no-buffer'] : []),
    ...(access === 'public' ? [] : ['--header @berth-token']),
    ...(body && needsBody
      ? ["--header 'Content-Type: application/json'", `--data ${quoted(JSON.stringify(sampleOf(body)))}`]
      : []),
    quoted(server + addressOf(operation)),
  ]
  return parts.join(' \\\n  ')
}

/** The same with the typed client; a stream is read as it comes, with `fetch`. */
export function typescriptExample(server: string, operation: Operation): string {
  return operation.isStream ? streamExample(server, operation) : clientExample(server, operation)
}

function clientExample(server: string, { id, access, parameters, body, needsBody }: Operation): string {
  const parts = {
    ...partOf(
      'params',
      parameters.filter(({ place }) => place === 'path'),
    ),
    ...partOf(
      'query',
      parameters.filter(({ place, isRequired }) => place === 'query' && isRequired),
    ),
    ...(body && needsBody && { body: sampleOf(body) }),
  }
  const input = Object.keys(parts).length === 0 ? '' : literal(parts)
  const [send, setUp] = access === 'public' ? ['fetch', []] : ['withToken(env.BERTH_TOKEN)', ['withToken']]
  return [
    ...(access === 'public' ? [] : [environment]),
    `import { ${['createClient', ...setUp].join(', ')} } from '@berth/api'`,
    '',
    `const api = createClient(${send}, '${server}')`,
    `const answer = await api.${id}(${input})`,
  ].join('\n')
}

const environment = `import { env } from 'node:process'`

function streamExample(server: string, operation: Operation): string {
  return [
    environment,
    `import { Writable } from 'node:stream'`,
    '',
    `const response = await fetch('${server}${addressOf(operation)}', {`,
    '  headers: { authorization: `Bearer ${env.BERTH_TOKEN}` },',
    '})',
    'await response.body.pipeTo(Writable.toWeb(process.stdout))',
  ].join('\n')
}

/** The path with sample values, and the required parameters of the query. */
function addressOf({ path, parameters }: Operation): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(sampleOf({ type: 'string' }, name)))
  const query = parameters
    .filter(({ place, isRequired }) => place === 'query' && isRequired)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sampleOf(schema, name)))}`)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

function partOf(name: string, parameters: readonly Parameter[]): Record<string, unknown> {
  if (parameters.length === 0) return {}
  return { [name]: Object.fromEntries(parameters.map((each) => [each.name, sampleOf(each.schema, each.name)])) }
}

/** JSON as people write it in TypeScript. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'string') return `'${value.replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).map(([key, each]) => `${key}: ${literal(each)}`)
  return `{ ${entries.join(', ')} }`
}

/** For a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
