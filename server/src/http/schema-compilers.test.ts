import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import fastify from 'fastify'
import { schemaCompilers } from './schema-compilers.ts'

// All schemas were compiled at each start, 350 ms of CPU: with seven times as much other work an upgrade by restart kept the API
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
