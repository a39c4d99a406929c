/** `npm run docs:reference`: writes the generated pages of docs/reference. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pages } from './pages.ts'

const folder = path.resolve(import.meta.dirname, '../../docs/reference')
for (const [name, make] of Object.entries(pages)) writeFileSync(path.join(folder, name), make())
