import assert from 'node:assert/strict'
import { test } from 'node:test'
import serializerCompilers from '@fastify/fast-json-stringify-compiler'
import fastify from 'fastify'
import Type from 'typebox'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { MembersResponse } from '@berth/api/schemas/groups.ts'
import { Instant, OneOf, OrNull } from '@berth/api/schemas/shapes.ts'
import { schemaCompilers, serializedSchema } from './schema-compilers.ts'

// All schemas were compiled at each start, 350 ms of CPU: with seven times as much other work an upgrade by restart
// kept the API
// away for more than two seconds.
test('a start compiles no schema: one that cannot be compiled is noticed by the first request that needs it', async (t) => {
  const server = fastify({ schemaController: { compilersFactory: schemaCompilers } })
  t.after(() => server.close())
  server.post('/broken', { schema: { body: { type: 'no such type' } } }, async () => 'answered')
  const body = { type: 'object', required: ['age'], properties: { age: { type: 'integer' } } }
  const answer = { type: 'object', properties: { shown: { type: 'integer' } } }
  server.post('/right', { schema: { body, response: { 200: answer } } }, async () => ({ shown: 1, hidden: 2 }))
  await server.ready()
  const post = (url: string, payload: object) => server.inject({ method: 'POST', url, payload })
  assert.equal((await post('/broken', {})).statusCode, 500)
  const refused = await post('/right', { age: 'x' })
  assert.equal(refused.statusCode, 400)
  assert.match(refused.body, /body\/age must be integer/)
  assert.deepEqual((await post('/right', { age: 3 })).json(), { shown: 1 })
  assert.match((await post('/right', {})).body, /must have required property 'age'/)
})

test('every schema of the endpoint table can be compiled', async (t) => {
  // Fastify's own way: all of them before the server is ready.
  const server = fastify()
  t.after(() => server.close())
  const all = Object.values<Endpoint>(endpoints)
  for (const [index, { params, query, body, response, refusals }] of all.entries()) {
    const input = { ...(params && { params }), ...(query && { querystring: query }), ...(body && { body }) }
    const schema = { ...input, response: { ...(response && { 200: response }), ...refusals } }
    server.route({ method: 'POST', url: `/${index}`, schema, handler: async () => undefined })
  }
  await server.ready()
})

const compile = (serializerCompilers() as unknown as () => (route: object) => (value: unknown) => string)()
const build = (schema: unknown) => compile({ schema })

/**
 * The first list of 300 members took 0.2 s: the serializer compiled a validator for each "or null" and each word of a
 * status.
 */
test('the serializer of a list of members chooses between no schemas', () => {
  assert.doesNotMatch(JSON.stringify(serializedSchema(MembersResponse)), /anyOf/)
})

test('what is sent is what the schema itself would send', () => {
  const schema = Type.Object({
    at: OrNull(Instant),
    count: OrNull(Type.Integer()),
    word: OneOf(['one', 'two']),
    wordOrNull: OrNull(OneOf(['one', 'two'])),
    owner: OrNull(Type.Object({ id: Type.Integer() })),
    list: OrNull(Type.Array(Type.String())),
    fixed: OrNull(Type.Literal('Bearer')),
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
    either: Type.Union([
      Type.Object({ kind: Type.Literal('a'), a: OrNull(Type.String()) }),
      Type.Object({ kind: Type.Literal('b'), b: Type.Number() }),
    ]),
    optional: Type.Optional(OrNull(Type.String())),
  })
  const full = {
    at: '2026-11-23T22:00:00.000Z',
    count: 3,
    word: 'two',
    wordOrNull: 'one',
    owner: { id: 1, secret: 'stays' },
    list: ['a "quoted" word'],
    fixed: 'Bearer',
    value: true,
    either: { kind: 'b', b: 2, secret: 'stays' },
    optional: null,
  }
  const empty = {
    at: null,
    count: null,
    word: 'one',
    wordOrNull: null,
    owner: null,
    list: null,
    fixed: null,
    value: 'x',
  }
  const [itself, simpler] = [build(schema), build(serializedSchema(schema))]
  for (const each of [full, { ...empty, either: { kind: 'a', a: null } }]) {
    assert.equal(simpler(each), itself(each))
    assert.doesNotMatch(simpler(each), /secret/)
  }
  // A value that has to be there is missed as before.
  assert.throws(() => simpler({ ...full, at: undefined }), /required/)
})
