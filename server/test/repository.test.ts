import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { everyRefusal } from './support/every-refusal.ts'

/** The documents say what the code does; where they could drift apart, a test compares them. */
const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

const names = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map((match) => match.slice(1).find(Boolean) ?? ''))].sort()

test('docs/configuration.md has every setting that is read, and no other', () => {
  const settings = names(read('server/src/config.ts'), /(?:text|check)\(\s*'([A-Z_]+)'|env\.([A-Z_]+)/g).filter(
    (name) => name !== '',
  )
  const [table = ''] = read('docs/configuration.md').split('Set-up only')
  assert.ok(settings.length > 15)
  assert.deepEqual(names(table, /`([A-Z][A-Z_]{3,})`/g), settings)
})

test('docs/configuration.md has every field of a template, and no other', () => {
  const [, readers = ''] = read('server/src/containers/read-templates.ts').split('const readers = {')
  const fields = names(readers.split('\n}')[0] ?? '', /^ {2}([a-z_]+):/gm)
  const [, table = ''] = read('docs/configuration.md').split('## Fields of a template')
  const documented = names(table.replace(/\|[^|]*\|[^|]*\|$/gm, '|'), /`([a-z_]+)`/g)
  assert.ok(fields.length > 15)
  assert.deepEqual(documented, fields)
})

test('docs/errors.md has every refusal with its status', () => {
  const document = read('docs/errors.md')
  for (const [name, { status }] of Object.entries(everyRefusal)) {
    assert.match(document, new RegExp(`^\\| ${status} \\| \`${name}\` \\|`, 'm'), name)
  }
})

test('docs/operating.md has every action of the audit log, and no other', () => {
  const sources = globSync('server/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const written = sources.map(read).filter((text) => text.includes('insertAuditEntries'))
  const actions = names(written.join('\n'), /'((?:user|container|link|key|keys|session)\.[a-z-]+)'/g)
  const [, section = ''] = read('docs/operating.md').split('## The audit log')
  const [table = ''] = section.split('### ')
  assert.ok(actions.length > 10)
  assert.deepEqual(names(table.replace(/^(\|[^|]*\|).*$/gm, '$1'), /`([a-z]+\.[a-z-]+)`/g), actions)
})

test('links from one document to another lead somewhere', () => {
  for (const file of ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md']) {
    for (const [, target = ''] of read(file).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      assert.ok(existsSync(path.join(root, path.dirname(file), target)), `${file} -> ${target}`)
    }
  }
})

test('the OpenAPI document in the repository is the one that is served', async (t) => {
  const { openApiDocument } = await import('@berth/api/openapi.ts')
  const document = `${JSON.stringify(openApiDocument('http://spawner.berth.localhost:8080'), null, 2)}\n`
  // `npm test -- repository --test-update-snapshots` writes it anew.
  t.assert.fileSnapshot(document, path.join(root, 'openapi.json'), { serializers: [String] })
})
