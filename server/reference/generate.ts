/** `npm run docs:reference`: writes the generated pages of the docs folder, the imports in architecture.md, and the dashboard. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readImports } from '#test/support/imports.ts'
import { drawArrows, withArrows } from './arrows.ts'
import { dashboard } from './dashboard/dashboard.ts'
import { pages } from './pages.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')
for (const [name, make] of Object.entries(pages)) writeFileSync(path.join(docs, name), make())

writeFileSync(path.join(docs, '../deploy/monitoring/grafana-dashboard.json'), dashboard())

const architecture = path.join(docs, 'explanation/architecture.md')
writeFileSync(architecture, withArrows(readFileSync(architecture, 'utf8'), drawArrows(readImports())))
