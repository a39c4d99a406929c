import { fileURLToPath } from 'node:url'
import { endpoints } from '@berth/api/endpoints.ts'
import type { Plugin } from 'vite'

const tableFile = fileURLToPath(import.meta.resolve('@berth/api/endpoints.ts'))

/**
 * Reduces the endpoint table to what a client reads: method, path, and whether the answer is a stream. Schemas, summaries
 * and descriptions would add 6 KB (gzip) to the first load.
 */
export function endpointTable(): Plugin {
  const rows = Object.entries(endpoints).map(([name, { method, path, ...row }]) => [
    name,
    'stream' in row ? { method, path, stream: true } : { method, path },
  ])
  return {
    name: 'berth:endpoint-table',
    enforce: 'pre',
    load: (id) =>
      id.split('?')[0] === tableFile ? `export const endpoints = ${JSON.stringify(Object.fromEntries(rows))}` : null,
  }
}
