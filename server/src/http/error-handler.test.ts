import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { refusalRows, refusals, type Refusal } from '#/refusals/errors.ts'
import { handleError } from './error-handler.ts'

const ask = async (server: FastifyInstance, url: string, language?: string) => {
  const headers = language === undefined ? {} : { 'accept-language': language }
  const { headers: answered, json } = await server.inject({ url, headers })
  return { error: json<{ error: string }>().error, contentLanguage: answered['content-language'] }
}

/** One of each refusal, by its name. */
const everyRefusal = new Map(
  Object.entries<(...args: never) => Refusal>(refusals).map(([name, make]) => [
    name,
    make(...(refusalRows[name as keyof typeof refusals].sample as never)),
  ]),
)

test('every refusal is in German for clients that ask for it, and in English for all others', async (t) => {
  const server = fastify()
  t.after(() => server.close())
  server.setErrorHandler(handleError)
  server.get<{ Params: { name: string } }>('/:name', ({ params }) => {
    throw everyRefusal.get(params.name) ?? new Error('no such refusal')
  })
  for (const [name, { message }] of everyRefusal) {
    for (const language of [undefined, '*', 'en-GB, de;q=0.5', 'fr'])
      assert.deepEqual(await ask(server, `/${name}`, language), { error: message, contentLanguage: undefined })
    const german = await ask(server, `/${name}`, 'de-AT')
    assert.equal(german.contentLanguage, 'de')
    assert.notEqual(german.error, message, name)
    assert.match(german.error, /^\p{Lu}.{9,}[.)]$/u)
    assert.doesNotMatch(german.error, /\b(the|this|is|not|of|your)\b/i, name)
  }
})

/** The format of all instants, whose name says little. */
const anInstant = 'must be an instant such as 2027-01-31T00:00:00Z or 2027-01-31T00:00:00+01:00'

/** What is wrong, as a schema and a value that does not fit it, by the validator's name for it. */
const faults: Readonly<Record<string, readonly [schema: object, value: unknown]>> = {
  type: [{ type: 'string' }, 7],
  required: [{ type: 'object', required: ['inner'], properties: {} }, {}],
  enum: [{ enum: ['a', 'b'] }, 'c'],
  const: [{ const: 'a' }, 'b'],
  pattern: [{ type: 'string', pattern: '^[a-z]+$' }, '7'],
  format: [{ type: 'string', format: 'date-time' }, 'now'],
  minLength: [{ type: 'string', minLength: 2 }, 'a'],
  maxLength: [{ type: 'string', maxLength: 2 }, 'abc'],
  minItems: [{ type: 'array', minItems: 1 }, []],
  maxItems: [{ type: 'array', maxItems: 1 }, [1, 2]],
  minimum: [{ type: 'integer', minimum: 1 }, 0],
  maximum: [{ type: 'integer', maximum: 1 }, 2],
  anyOf: [{ anyOf: [{ $ref: '#/definitions/never' }] }, 1],
  additionalProperties: [{ type: 'object', additionalProperties: false, properties: {} }, { a: 1 }],
}

for (const [keyword, [schema, value]] of Object.entries(faults)) {
  test(`a value that breaks ${keyword} is explained in both languages, in English with the validator's words`, async (t) => {
    const server = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
    t.after(() => server.close())
    const found: string[] = []
    server.setErrorHandler((error: FastifyError, request, reply) => {
      const last = error.validation?.find((each) => each.keyword === keyword)
      if (error.validation && last) {
        error.validation = [last]
        found.push(`The body is not valid: place ${keyword === 'format' ? anInstant : last.message}.`)
      }
      return handleError(error, request, reply)
    })
    const body = {
      type: 'object',
      properties: { place: schema },
      definitions: { never: { type: 'string', maxLength: 0 } },
    }
    server.post('/', { schema: { body } }, () => ({}))
    const post = (language: string) =>
      server.inject({ method: 'POST', url: '/', payload: { place: value }, headers: { 'accept-language': language } })
    const [english, german] = [await post('*'), await post('de')]
    assert.deepEqual([english.json<{ error: string }>().error], found.slice(0, 1))
    assert.match(german.json<{ error: string }>().error, /^Der Inhalt ist ungültig: place .*\.$/)
    assert.doesNotMatch(german.json<{ error: string }>().error, /must|ungültig \(/)
  })
}

// Each of three kinds of source had a problem, and that of the first was told: `dockerfile` is missing.
test('of a value that may be one of several, the problem of the one that was meant is told', async (t) => {
  const server = fastify()
  t.after(() => server.close())
  server.setErrorHandler(handleError)
  server.post('/', { schema: { body: endpoints.createEnvironment.body } }, () => ({}))
  for (const [source, place] of [
    [{ base: 'nope image' }, 'source.base'],
    [{ base: 'debian', pip: ['a b;c'] }, 'source.pip.0'],
    [{ git: 'file:///course' }, 'source.git'],
  ] as const) {
    const reply = await server.inject({ method: 'POST', url: '/', payload: { name: 'course', source } })
    assert.match(reply.json<{ error: string }>().error, new RegExp(`^The body is not valid: ${place} must match`))
  }
})

test('the table asks for nothing that could not be explained', () => {
  const structure = ['properties', 'items', 'definitions', 'description', 'title', 'default', 'examples', '$id']
  const asked = new Set<string>()
  const collect = (schema: unknown, isMap = false): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [key, value] of Object.entries(schema)) {
      if (!isMap && !Array.isArray(schema)) asked.add(key)
      if (key !== 'enum' && key !== 'required') collect(value, !isMap && key === 'properties')
    }
  }
  for (const { params, query, body } of Object.values<Endpoint>(endpoints))
    for (const part of [params, query, body]) collect(part)
  assert.ok(asked.has('pattern') && asked.has('maxItems'))
  assert.deepEqual(
    [...asked].filter((key) => !(key in faults) && !structure.includes(key) && !key.startsWith('~')),
    [],
  )
})
