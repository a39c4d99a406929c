/**
 * Writes the pages of the reference and the OpenAPI document into the docs folder, or into the folder that the first argument names,
 * and the dashboard into the folder `deploy` beside it, if there is one: `npm run docs:reference`. Git ignores all but the dashboard.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { argv } from 'node:process'
import { dashboard } from './dashboard/dashboard.ts'
import { generatedFiles } from './pages.ts'

const docs = path.resolve(argv[2] ?? path.join(import.meta.dirname, '../../docs'))
for (const [name, make] of Object.entries(generatedFiles)) {
  const file = path.join(docs, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, make())
}

const monitoring = path.join(docs, '../deploy/monitoring')
if (existsSync(monitoring)) writeFileSync(path.join(monitoring, 'grafana-dashboard.json'), dashboard())
