import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { openApiDocument } from '@berth/api/openapi.ts'
import { apiReferenceHtml } from '../reference/api-page.ts'
import { curlExample, typescriptExample } from '../reference/examples.ts'

/** What the page of the API reference says of the endpoint table; how it is served, `front-end-files.test.ts` and `every-page.test.ts` state. */
const html = apiReferenceHtml()
const rows = Object.entries<Endpoint>(endpoints).filter(([, { access }]) => access !== 'operator')
const sectionOf = (name: string) => html.split(`<article id="${name}"`)[1]?.split('</article>')[0] ?? assert.fail(name)

test('the page has every endpoint of the table but those of the operator, in its list and in a section', () => {
  for (const [name, { method, path }] of rows) {
    assert.ok(html.includes(`<a href="#${name}"><code>${method} ${path}</code></a>`), name)
    assert.ok(sectionOf(name).includes(`<code class="path">${path}</code>`), name)
  }
  const all = Object.entries<Endpoint>(endpoints)
  for (const [name] of all.filter(([, { access }]) => access === 'operator'))
    assert.ok(!html.includes(`id="${name}"`), name)
})

test('every link within the page leads to one place, and its headings go down by one level at a time', () => {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  )
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)
  assert.ok(targets.length > rows.length)
  assert.deepEqual(
    targets.filter((target) => !ids.includes(target)),
    [],
  )
  const levels = [...html.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
  assert.deepEqual(levels[0], 1)
  assert.ok(levels.every((level, index) => index === 0 || level <= (levels[index - 1] ?? 0) + 1))
})

test('a section has scope, fields and refusals, those that an endpoint shares with most others as well', () => {
  const launch = sectionOf('launchContainer')
  assert.match(launch, /scope: <code>containers:write<\/code>/)
  for (const status of [400, 401, 403, 429]) assert.match(launch, new RegExp(`<li><code>${status}</code> \\w`))
  assert.match(sectionOf('createApiToken'), /<td>body<\/td><td><code>expires_in<\/code><\/td><td>integer<\/td>/)
})

test('an answer that is another than 200 is told with its status, in the page and in the OpenAPI document', () => {
  assert.match(sectionOf('buildEnvironment'), /answers 202/)
  const { paths } = openApiDocument('https://spawner.example.org') as {
    paths: Record<string, { post: { responses: object } }>
  }
  const { responses } = paths['/api/admin/environments/{name}/build']?.post ?? assert.fail()
  assert.deepEqual(
    Object.keys(responses).filter((status) => status.startsWith('2')),
    ['202'],
  )
})

test('nothing in the page is Markdown, a script or an inline style', () => {
  const prose = html.replace(/<pre[^]*?<\/pre>/g, '')
  assert.doesNotMatch(prose, /`|\]\(|<script|style=|\son\w+=/)
})

test('an example for curl is a command line that a shell reads as meant', () => {
  const BERTH = 'https://spawner.example.org'
  for (const [name, endpoint] of rows) {
    const text = curlExample(endpoint).replace(/^curl/, `printf '%s\\n'`)
    const words = execFileSync('sh', ['-c', text], { encoding: 'utf8', env: { ...process.env, BERTH } })
      .trimEnd()
      .split('\n')
    assert.ok(words.at(-1)?.startsWith(`${BERTH}/`), name)
    assert.doesNotMatch(words.at(-1) ?? '', /[{}]/, name)
    assert.equal(words.includes('@berth-token'), endpoint.access !== 'public', name)
    if (words.includes('--data')) JSON.parse(words[words.indexOf('--data') + 1] ?? '')
  }
  assert.match(curlExample(endpoints.createApiToken), /"scopes":\["containers:read"\],"expires_in":2592000/)
})

test('an example in TypeScript is a program, and calls the function of the client', () => {
  for (const [name, endpoint] of rows) {
    const text = typescriptExample(name, endpoint)
    assert.doesNotThrow(() => stripTypeScriptTypes(text), name)
    if (!text.includes('await fetch(')) assert.ok(text.includes(`api.${name}(`), text)
  }
  assert.match(
    typescriptExample('launchContainer', endpoints.launchContainer),
    /launchContainer\(\{ params: \{ container_type: 'dev' \} \}\)/,
  )
})
