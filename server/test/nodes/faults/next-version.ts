import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
  const workspaces = ['server', 'gateway', 'cli', 'texts', 'api']
  for (const name of [...workspaces.map((each) => `${each}/src`), 'images', 'templates'])
    cpSync(path.join(root, name), at(name), { recursive: true })
  for (const name of [...workspaces.map((each) => `${each}/package.json`), 'tsconfig.base.json'])
    cpSync(path.join(root, name), at(name))
  for (const name of ['web', 'node_modules', 'node_modules/@berth']) mkdirSync(at(name))
  for (const name of readdirSync(path.join(root, 'node_modules')).filter((each) => each !== '@berth'))
    symlinkSync(path.join(root, 'node_modules', name), at(`node_modules/${name}`))
  for (const name of workspaces) symlinkSync(at(name), at(`node_modules/@berth/${name}`))
  symlinkSync(path.join(root, 'web'), at('node_modules/@berth/web'))
  for (const name of [...workspaces.map((each) => `${each}/node_modules`), 'web/dist'])
    if (existsSync(path.join(root, name))) symlinkSync(path.join(root, name), at(name))
  const version = '99.0.0'
  const described = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as object
  writeFileSync(at('package.json'), JSON.stringify({ ...described, version }))
  const table = 'of_the_next_version'
  const file = at('server/src/store/migrations/migrations.ts')
  const migration = `'999-next': (db) => db.schema.createTable('${table}').addColumn('x', 'integer').execute(),`
  const before = readFileSync(file, 'utf8')
  const after = before.replace(/\n\}\n/, `\n  ${migration}\n}\n`)
  assert.notEqual(after, before, 'the list of migrations has another form')
  writeFileSync(file, after)
  return { folder, version, table }
}
