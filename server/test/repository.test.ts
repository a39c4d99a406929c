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

test('docs/reference/settings.md has every setting that is read, and no other', () => {
  const settings = names(read('server/src/config.ts'), /(?:text|check)\(\s*'([A-Z_]+)'|env\.([A-Z_]+)/g).filter(
    (name) => name !== '',
  )
  const [table = ''] = read('docs/reference/settings.md').split('Set-up only')
  assert.ok(settings.length > 15)
  assert.deepEqual(names(table, /`([A-Z][A-Z_]{3,})`/g), settings)
})

test('docs/reference/templates.md has every field of a template, and no other', () => {
  const [, readers = ''] = read('server/src/containers/read-templates.ts').split('const readers = {')
  const fields = names(readers.split('\n}')[0] ?? '', /^ {2}([a-z_]+):/gm)
  const table = read('docs/reference/templates.md')
  const documented = names(table.replace(/\|[^|]*\|[^|]*\|$/gm, '|'), /`([a-z_]+)`/g)
  assert.ok(fields.length > 15)
  assert.deepEqual(documented, fields)
})

test('docs/reference/errors.md has every refusal with its status', () => {
  const document = read('docs/reference/errors.md')
  for (const [name, { status }] of Object.entries(everyRefusal)) {
    assert.match(document, new RegExp(`^\\| ${status} \\| \`${name}\` \\|`, 'm'), name)
  }
})

test('docs/reference/audit-actions.md has every action of the audit log, and no other', () => {
  const sources = globSync('server/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const written = sources.map(read).filter((text) => text.includes('insertAuditEntries'))
  const actions = names(written.join('\n'), /'((?:user|container|link|key|keys|session)\.[a-z-]+)'/g)
  const table = read('docs/reference/audit-actions.md')
  assert.ok(actions.length > 10)
  assert.deepEqual(names(table.replace(/^(\|[^|]*\|).*$/gm, '$1'), /`([a-z]+\.[a-z-]+)`/g), actions)
})

/** Every document, by its path from the root. */
const documents = globSync(['*.md', '{docs,api,server,web,bench,images,tools}/**/*.md'], {
  cwd: root,
  exclude: (name) => name.split('/').includes('node_modules'),
})

test('every relative link in a document leads to a file and, where it names one, to a heading', () => {
  assert.ok(documents.length > 50)
  const broken = documents.flatMap((file) =>
    [...withoutCode(read(file)).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, target = '', heading]) => {
        const found = target === '' ? file : path.join(path.dirname(file), target)
        if (!existsSync(path.join(root, found))) return true
        return heading !== undefined && !headingsOf(read(found)).includes(heading)
      })
      .map(([link]) => `${file} -> ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('every page of docs is reached from its index, which the README links', () => {
  const reached = new Set(['README.md'])
  for (const file of reached)
    for (const [, target = ''] of withoutCode(read(file)).matchAll(/\]\((?!https?:|mailto:)([^)#\s]+\.md)[^)]*\)/g))
      reached.add(path.join(path.dirname(file), target))
  assert.deepEqual(
    documents.filter((file) => file.startsWith('docs/') && !reached.has(file) && !file.includes('/decisions/')),
    [],
  )
})

test('a page of docs that code names is there', () => {
  const files = globSync('{api,server,web,bench,tools}/**/*.{ts,tsx,mjs,sh}', {
    cwd: root,
    exclude: (name) => name.split('/').includes('node_modules'),
  })
  const missing = [...files, 'berth', 'package.json'].flatMap((file) =>
    [...read(file).matchAll(/(?<![\w/])docs\/[\w/-]+?(?:\.md\b|\/\d{3}\b)/g)]
      .filter(([name]) => globSync(name.endsWith('.md') ? name : `${name}-*.md`, { cwd: root }).length !== 1)
      .map(([name]) => `${file}: ${name}`),
  )
  assert.deepEqual(missing, [])
})

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

/** Anchors that GitHub gives to the headings of a document. */
function headingsOf(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('the OpenAPI document in the repository is the one that is served', async (t) => {
  const { openApiDocument } = await import('@berth/api/openapi.ts')
  const document = `${JSON.stringify(openApiDocument('http://spawner.berth.localhost:8080'), null, 2)}\n`
  // `npm test -- repository --test-update-snapshots` writes it anew.
  t.assert.fileSnapshot(document, path.join(root, 'openapi.json'), { serializers: [String] })
})
