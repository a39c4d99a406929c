import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { readConfig } from '#/config/config.ts'
import { readTemplate, readTemplates } from '#/templates/read-templates.ts'
import { fields, type Field } from '#/templates/fields.ts'
import { metricDescriptions } from '#/http/metric-descriptions.ts'
import { Problem, type Setting } from '#/config/setting-values.ts'
import { settings } from '#/config/settings.ts'
import { auditActions } from '@berth/api/audit-actions.ts'
import { decisions } from '../reference/decisions.ts'
import { pages } from '../reference/pages.ts'

/** The documents say what the code does; where they could drift apart, a test compares them. */
const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

for (const [name, make] of Object.entries(pages))
  test(`docs/${name} is what the code says: "npm run docs:reference" writes it`, () => {
    assert.equal(read(`docs/${name}`), make())
  })

test('the settings that are described are those that are read, with their defaults', () => {
  const read = new Set<string>()
  // Some are read only when another one is set so.
  for (const set of [{}, { ENGINE: 'kubernetes' }, { NODE_ADDRESS: '10.0.0.5:7070' }])
    readConfig(
      new Proxy<Record<string, string>>(set, { get: (env, name) => (read.add(String(name)), env[String(name)]) }),
      () => '',
    )
  assert.deepEqual([...settings.keys()].sort(), [...read].sort())
  const usual = readConfig({}, () => '')
  for (const [name, { default: value }] of settings)
    if (value !== null) assert.deepEqual(readConfig({ [name]: value }, () => '').config, usual.config, name)
})

/** Numbers in the problems of values that are wrong: what is refused above or below. */
const limitsIn = (problems: readonly string[]) =>
  problems.flatMap((words) => words.match(/(?<=from |to |most |least |be )\d+m?\b/g) ?? [])

/** @param limits by the name in the first column @returns limits that are not in the row of their name */
function missingLimits(file: string, limits: ReadonlyMap<string, readonly string[]>): string[] {
  const page = read(file)
  assert.ok([...limits.values()].flat().length > 10)
  return [...limits].flatMap(([name, numbers]) => {
    const [line = ''] = new RegExp(`^\\| \`${name}\`.*$`, 'm').exec(page) ?? []
    return numbers.filter((limit) => !line.includes(`\`${limit}\``)).map((limit) => `${name}: ${limit}`)
  })
}

const wrongValues = ['not a value', '\u0000', '-', 'x'.repeat(1_000)]

// Twenty of 21 limits of numbers were in no document: an operator learned of them by a start that was refused.
test('every limit that the value of a setting is refused for is in the reference', () => {
  const problemsOf = (row: Setting) =>
    wrongValues.map((value) => row.read(value)).flatMap((read) => (read instanceof Problem ? read.words : []))
  const limits = new Map([...settings].map(([name, row]) => [name, limitsIn(problemsOf(row))]))
  assert.deepEqual(missingLimits('docs/reference/settings.md', limits), [])
})

test('every limit that the value of a template field is refused for is in the reference', () => {
  const problemsOf = (row: Field) =>
    [...wrongValues, -1].map((value) => row.read(value)).flatMap((read) => ('problem' in read ? read.problem : []))
  const limits = new Map([...fields].map(([name, row]) => [name, limitsIn(problemsOf(row))]))
  assert.deepEqual(missingLimits('docs/reference/templates.md', limits), [])
})

test('a setting that counts with others names settings', () => {
  for (const [name, { countsWith }] of settings)
    for (const other of countsWith?.settings ?? []) assert.ok(settings.has(other), `${name}: ${other}`)
})

test('the template fields that are described have the defaults that are read', () => {
  const usual = readTemplate('x', { image: 'y' })
  for (const [name, { default: value }] of fields)
    if (value !== undefined) assert.deepEqual(readTemplate('x', { image: 'y', [name]: value }), usual, name)
})

test('every action of the audit log is written somewhere', () => {
  const sources = globSync('server/src/{accounts,admin,groups,homes,sharing,http/handlers}/**/*.ts', { cwd: root })
    .map(read)
    .join('\n')
  assert.deepEqual(
    Object.keys(auditActions).filter((action) => !sources.includes(`'${action}'`)),
    [],
  )
})

test('every metric that code counts is described', () => {
  const sources = globSync('{gateway,server}/src/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts', '**/metric-descriptions.ts'],
  })
  const counted = new Set(sources.flatMap((file) => read(file).match(/\bberth_[a-z]+_[a-z_]+/g) ?? []))
  assert.deepEqual([...counted].sort(), Object.keys(metricDescriptions).sort())
})

/** Every document, by its path from the root. */
const documents = globSync(['*.md', '{docs,api,texts,gateway,server,cli,web,bench,images,tools}/**/*.md'], {
  cwd: root,
  exclude: (name) => name.split('/').includes('node_modules'),
})

/** Those whose words are ours to choose now: not the history, not the demo's own pages. */
const prose = documents.filter(
  (file) => /^(docs\/|README|CONTRIBUTING|(texts|gateway|server|cli)\/)/.test(file) && !file.endsWith('glossary.md'),
)

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

test('every decision has a status, and context, decision and consequences', () => {
  assert.ok(decisions().length > 30)
  for (const { file, title, status, text } of decisions()) {
    assert.ok(title !== '' && /^(proposed|accepted|replaced by)/.test(status), file)
    const parts = [...text.matchAll(/^\*\*([A-Z]\w+)\.\*\*/gm)].map(([, name]) => name)
    assert.deepEqual(parts, ['Context', 'Decision', 'Consequences'], file)
  }
})

test('every template in a document is one that Berth reads', () => {
  const texts = documents.flatMap((file) =>
    [...read(file).matchAll(/^ *```yaml\n([^]*?)^ *```$/gm)].map(([, text = '']) => [file, text]),
  )
  const templates = texts.filter(([, text = '']) => /^ {2}image:/m.test(text))
  assert.ok(templates.length > 5)
  for (const [file = '', text = ''] of templates) assert.deepEqual(readTemplates(text, file).problems, [])
})

test('source files and folders that documents name are there', () => {
  const files = globSync('{texts,gateway,server,cli,api,web,bench,images,tools}/**', {
    cwd: root,
    exclude: (name) => name.split('/').includes('node_modules'),
  })
  const isThere = (name: string) =>
    files.some((file) => `/${file}${name.endsWith('/') ? '/' : ''}`.endsWith(`/${name}`))
  const named = prose.flatMap((file) =>
    [...withoutBlocks(read(file)).matchAll(/`((?:[\w-]+\/)*[\w.-]+\.(?:tsx?|mjs)|(?:[\w-]+\/)+)`/g)].map(
      ([, name = '']) => ({ file, name }),
    ),
  )
  assert.ok(named.length > 100)
  assert.deepEqual(
    named.filter(({ name }) => !isThere(name) && !['docs/', 'server/', '.berth/', 'proxy/3000/'].includes(name)),
    [],
  )
})

/** Words that hide who is meant: a user, an owner, an administrator, a request, a client. */
const vague = /\b(?:who(?:m|so)?ever|somebody|nobody|anybody|everybody)\b/i

test('documents say who is meant: no whoever, somebody, nobody, everybody', () => {
  const found = [...prose, 'CHANGELOG.md'].flatMap((file) =>
    withoutCode(read(file))
      .split('\n')
      .filter((line) => vague.test(line))
      .map((line) => `${file}: ${line}`),
  )
  assert.deepEqual(found, [])
})

test('comments and titles of tests say who is meant, too', () => {
  const files = globSync('{api,texts,gateway,server,cli,web,bench,images,tools}/**/*.{ts,tsx,mjs,css}', {
    cwd: root,
    exclude: (name) => ['node_modules', 'dist'].includes(path.basename(name)),
  }).filter((file) => file !== 'server/test/repository.test.ts')
  assert.ok(files.length > 1_000)
  const found = files.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => vague.test(commentIn(line)) || (file.includes('.test.') && vague.test(titleIn(line))))
      .map((line) => `${file}: ${line.trim()}`),
  )
  assert.deepEqual(found, [])
})

test('so do the sentences that users read', () => {
  const files = globSync(['texts/src/en/*.ts', 'web/src/**/messages/*.ts', 'web/src/admin/audit/actions.ts'], {
    cwd: root,
  })
  for (const area of ['texts/', 'web/'])
    assert.ok(
      files.some((file) => file.startsWith(area)),
      area,
    )
  const lines = files.flatMap((file) =>
    read(file)
      .split('\n')
      .map((line) => `${file}: ${line.trim()}`),
  )
  assert.deepEqual(
    lines.filter((line) => vague.test(line)),
    [],
  )
})

const commentIn = (line: string) =>
  (/(?:^|\s)(?:\/\/|\/?\*{1,2})\s(.*)/.exec(line)?.[1] ?? '').replace(/`[^`]*`|\S+@\S+/g, '')

/** Of a test, on the line of its beginning or on one of its own. */
const titleIn = (line: string) =>
  /(?:\btest\(|^\s*(?=['"`].*['"`],$))(['"`].*)/.exec(line)?.[1]?.replace(/\S+@\S+/g, '') ?? ''

test('files and functions that CONTRIBUTING names are there', () => {
  const text = read('CONTRIBUTING.md')
  const files = [...text.matchAll(/`((?:api|texts|gateway|server|cli|web|docs|bench|tools)\/[\w./-]+)`/g)].map(
    ([, file = '']) => file,
  )
  assert.ok(files.length > 10)
  assert.deepEqual(
    files.filter((file) => !existsSync(path.join(root, file))),
    [],
  )
  for (const [, name = '', file = ''] of text.matchAll(/`(\w+)` of `([\w./-]+)`/g))
    assert.match(read(file), new RegExp(`function ${name}\\b`), `${name} is not in ${file}`)
})

test('a page of docs that code names is there', () => {
  const files = globSync('{api,texts,gateway,server,cli,web,bench,tools}/**/*.{ts,tsx,mjs,sh}', {
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

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replace(/`[^`\n]*`/g, '')
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
