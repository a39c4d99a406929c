import assert from 'node:assert/strict'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { endpoints } from '@berth/api/endpoints.ts'
import { Ajv } from 'ajv'
import fastify from 'fastify'
import { schemaCompilers } from './schema-compilers.ts'
import { compileEndpoints, warmUpHttpServer } from './server.ts'

const webDir = path.resolve(import.meta.dirname, '../../../web/dist')

// By CPU, and by the best of five later ones: on a loaded machine, one later server once took longer than the first
// (208 ms after 141).
test('a server that was prepared takes less CPU than the first one', async () => {
  const cpuOf = async () => {
    const before = process.cpuUsage()
    await warmUpHttpServer(webDir)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  const first = await cpuOf()
  const later: number[] = []
  while (later.length < 5) later.push(await cpuOf())
  assert.ok(Math.min(...later) < first, `${first} ms, then ${later.join(', ')} ms`)
})

// The first answer of each endpoint took up to 250 ms of CPU, in which a node that had just taken over answered nothing
// else.
test('the first request of a server that was prepared compiles no schema', async (t) => {
  await warmUpHttpServer(webDir)
  await compileEndpoints()
  const { response, query } = endpoints.verifySignup
  assert.equal(await compiledByRequest(t, query, response), 0)
  assert.ok((await compiledByRequest(t, { ...query }, response)) > 0, 'a schema that was not prepared')
})

async function compiledByRequest(t: TestContext, querystring: object, response: object): Promise<number> {
  const server = fastify({ schemaController: { compilersFactory: schemaCompilers } })
  t.after(() => server.close())
  const user = { id: 1, email: 'ann@x.org', slug: 'ann', is_admin: false, state: 'active', container_id: null }
  const answer = { access_token: 'a', token_type: 'Bearer', expires_in: 1, user }
  server.get('/', { schema: { querystring, response: { 200: response } } }, async () => answer)
  await server.ready()
  const compiled = t.mock.method(Ajv.prototype as unknown as { _compileSchemaEnv(): void }, '_compileSchemaEnv')
  assert.equal((await server.inject('/?token=x')).statusCode, 200)
  compiled.mock.restore()
  return compiled.mock.callCount()
}
