import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifetime } from '../../support/berth.ts'

const root = path.resolve(import.meta.dirname, '../../../..')

/** A program of a version after this one, which changes the tables. */
export interface NextVersion {
  readonly folder: string
  readonly version: string
  /** That it adds. */
  readonly table: string
}

/** Made of the sources of this one. */
export function makeNextVersion(lifetime: Lifetime): NextVersion {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-next-'))
  lifetime.after(async () => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => path.join(folder, name)
  for (const name of ['server/src', 'api/src', 'images', 'templates'])
    cpSync(path.join(root, name), at(name), { recursive: true })
  for (const name of ['server/package.json', 'api/package.json', 'tsconfig.base.json'])
    cpSync(path.join(root, name), at(name))
  mkdirSync(at('web'))
  for (const name of ['node_modules', 'server/node_modules', 'api/node_modules', 'web/dist'])
    if (existsSync(path.join(root, name))) symlinkSync(path.join(root, name), at(name))
  const version = '99.0.0'
  const described = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as object
  writeFileSync(at('package.json'), JSON.stringify({ ...described, version }))
  const table = 'of_the_next_version'
  const file = at('server/src/store/migrations/migrations.ts')
  const migration = `'999-next': { up: (db) => db.schema.createTable('${table}').addColumn('x', 'integer').execute() },`
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n {2}\}\n\}\n$/, `\n    ${migration}\n  }\n}\n`))
  return { folder, version, table }
}
