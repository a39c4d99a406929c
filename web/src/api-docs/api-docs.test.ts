import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { parseAst } from 'vite'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { openApiDocument } from '@berth/api/openapi.ts'
import { curlExample, typescriptExample } from './examples.ts'
import { readDocument, search } from './read-document.ts'

const server = 'https://spawner.example.org'
const reference = readDocument(JSON.parse(JSON.stringify(openApiDocument(server))) as Record<string, unknown>)
const operations = reference.groups.flatMap((group) => group.operations)
const named = (id: string) => operations.find((each) => each.id === id) ?? assert.fail(id)

test('the reference has every endpoint of the table but those of the operator, with access and scope', () => {
  const rows = Object.entries<Endpoint>(endpoints).filter(([, { access }]) => access !== 'operator')
  assert.deepEqual(
    operations.map(({ id, method, path, access, scope }) => ({ id, method, path, access, scope })).toSorted(byId),
    rows.map(([id, { method, path, access, scope = null }]) => ({ id, method, path, access, scope })).toSorted(byId),
  )
})

test('every endpoint of a subject stands below its heading, and few below the last one', () => {
  const paths = (subject: string) =>
    reference.groups.find((group) => group.subject === subject)?.operations.map(({ path }) => path) ?? []
  for (const subject of ['auth', 'user', 'container', 'groups', 'admin'])
    assert.ok(paths(subject).every((path) => path.startsWith(`/api/${subject}`)) && paths(subject).length > 5, subject)
  assert.ok(paths('other').length <= 8, paths('other').join())
})

test('an endpoint lists its refusals, those that it shares with most others as well', () => {
  const { refusals } = named('launchContainer')
  assert.ok(refusals.every(({ description }) => description.length > 0))
  assert.deepEqual(
    ['400', '401', '403', '429'].filter((status) => !refusals.some((each) => each.status === status)),
    [],
  )
  for (const { id, access, refusals: given } of operations)
    if (access !== 'public')
      assert.ok(
        given.some(({ status }) => status === '401'),
        id,
      )
})

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)

test('fields of an answer are listed with those of the objects in them', () => {
  const fields = named('listAllApiTokens').answer
  assert.deepEqual(
    fields.slice(0, 3).map(({ name, type }) => [name, type]),
    [
      ['tokens', 'object[]'],
      ['tokens[].id', 'integer'],
      ['tokens[].name', 'string'],
    ],
  )
  assert.ok(fields.some(({ name }) => name === 'tokens[].user.email'))
})

test('an example for curl is a command line that a shell reads as meant', () => {
  for (const operation of operations) {
    const text = curlExample(server, operation).replace(/^curl/, `printf '%s\\n'`)
    const words = execFileSync('sh', ['-c', text], { encoding: 'utf8' }).trimEnd().split('\n')
    assert.ok(words.at(-1)?.startsWith(`${server}/`), operation.id)
    assert.doesNotMatch(words.at(-1) ?? '', /[{}]/, operation.id)
    assert.equal(words.includes('@berth-token'), operation.access !== 'public', operation.id)
    if (operation.body && operation.needsBody) JSON.parse(words[words.indexOf('--data') + 1] ?? '')
  }
  assert.match(curlExample(server, named('createApiToken')), /"scopes":\["containers:read"\],"expires_in":2592000/)
})

test('an example in TypeScript is a program, and calls the function of the client', () => {
  for (const operation of operations) {
    const text = typescriptExample(server, operation)
    parseAst(text, { lang: 'ts' })
    if (!operation.isStream) assert.ok(text.includes(`api.${operation.id}(`), text)
  }
  assert.match(
    typescriptExample(server, named('launchContainer')),
    /launchContainer\(\{ params: \{ container_type: 'dev' \} \}\)/,
  )
})

test('a search finds endpoints by words of name, path and summary, in any order and case', () => {
  const found = (text: string) =>
    search(reference.groups, text).flatMap((group) => group.operations.map(({ id }) => id))
  assert.deepEqual(found('token API create'), ['createApiToken'])
  assert.ok(found('tokens POST').includes('createApiToken'))
  assert.deepEqual(found('launchcontainer'), ['launchContainer'])
  assert.deepEqual(found('nothing of the kind'), [])
  assert.equal(found(' ').length, operations.length)
})
