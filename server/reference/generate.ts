/** `npm run docs:reference`: writes the generated pages of the docs folder and the dashboard. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { dashboard } from './dashboard/dashboard.ts'
import { pages } from './pages.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')
for (const [name, make] of Object.entries(pages)) writeFileSync(path.join(docs, name), make())

writeFileSync(path.join(docs, '../deploy/monitoring/grafana-dashboard.json'), dashboard())
