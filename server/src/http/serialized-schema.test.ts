import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import serializerCompilers from '@fastify/fast-json-stringify-compiler'
import { Instant, OneOf, OrNull } from '@berth/api/schemas/shapes.ts'
import { MembersResponse } from '@berth/api/schemas/groups.ts'
import { serializedSchema } from './serialized-schema.ts'

const compile = (serializerCompilers() as unknown as () => (route: object) => (value: unknown) => string)()
const build = (schema: unknown) => compile({ schema })

/** The first list of 300 members took 0.2 s: the serializer compiled a validator for each "or null" and each word of a status. */
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
