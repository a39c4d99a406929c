import { fileURLToPath } from 'node:url'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import type { Plugin } from 'vite'

const tableFile = fileURLToPath(import.meta.resolve('@berth/api/endpoints.ts'))

/**
 * Reduces the endpoint table to what pages read: method, path, and whether the answer is a stream, a line for each.
 * Schemas, summaries and descriptions would add 6 KB (gzip) to the first load, the endpoints of the command line 0.3 KB.
 */
export function endpointTable(): Plugin {
  const lines = Object.entries<Endpoint>(endpoints)
    .filter(([, { access }]) => access !== 'operator')
    .map(([name, { method, path, stream }]) => `${name} ${method} ${path}${stream ? ' stream' : ''}`)
  const table = JSON.stringify(lines.join('\n'))
  const code = `export const endpoints = Object.fromEntries(${table}.split('\\n').map((line) => {
    const [name, method, path, stream] = line.split(' ')
    return [name, stream ? { method, path, stream } : { method, path }]
  }))`
  return {
    name: 'berth:endpoint-table',
    enforce: 'pre',
    load: (id) => (id.split('?')[0] === tableFile ? code : null),
  }
}
