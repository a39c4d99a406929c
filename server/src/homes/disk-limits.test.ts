import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsharedHomes } from '#test/support/unshared-homes.ts'
import { DiskLimits } from './disk-limits.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'

const GiB = 1024 ** 3

function limits(perUser: number | null, homeSizes: Record<string, string | null>): DiskLimits {
  const templates = Object.entries(homeSizes).map(([type, home_size]) => {
    const { template, problems } = readTemplate(type, { image: 'x', home_size })
    assert.deepEqual(problems, [])
    assert.ok(template)
    return template
  })
  return new DiskLimits(new Templates(templates), perUser, unsharedHomes().names)
}

const bytes = (ofTypes: Record<string, number>) =>
  new Map(Object.entries(ofTypes).map(([type, size]) => [type, size * GiB]))

test('without any limit nothing is full', () => {
  const none = limits(null, { dev: null })
  assert.equal(none.areSet, false)
  assert.deepEqual(none.nearlyFull(bytes({ dev: 1e6 })), [])
  assert.equal(none.blockingLimit('dev', bytes({ dev: 1e6 })), undefined)
})

test('the homes of a person count together, those of types that are gone, too; from nine tenths on they are nearly full', () => {
  const perUser = limits(10 * GiB, { dev: null, prod: null })
  assert.equal(perUser.areSet, true)
  assert.deepEqual(perUser.nearlyFull(bytes({ dev: 4, gone: 4.9 })), [])
  const [full] = perUser.nearlyFull(bytes({ dev: 4, gone: 5 }))
  assert.deepEqual(full, { type: null, used: 9 * GiB, limit: 10 * GiB })
})

test('beyond the limit only the type starts whose home takes most, and from a quarter beyond it none', () => {
  const perUser = limits(10 * GiB, { dev: null, prod: null })
  const refused = (homes: Record<string, number>) =>
    ['dev', 'prod'].filter((type) => perUser.blockingLimit(type, bytes(homes)))
  assert.deepEqual(refused({ dev: 4, prod: 5.9 }), [])
  assert.deepEqual(refused({ dev: 4, prod: 6 }), ['dev'])
  assert.deepEqual(refused({ dev: 12.4 }), ['prod'])
  assert.deepEqual(refused({ dev: 6.5, prod: 6 }), ['dev', 'prod'])
  const limit = { type: null, used: 10 * GiB, limit: 10 * GiB }
  assert.equal(perUser.cleanUpTemplate(limit, bytes({ dev: 4, prod: 6 }))?.type, 'prod')
  assert.equal(perUser.cleanUpTemplate({ ...limit, used: 12.5 * GiB }, bytes({ dev: 12.5 })), undefined)
})

test('where most bytes are in homes that cannot be opened any more, users can still open the largest of the others', () => {
  const perUser = limits(10 * GiB, { dev: null, prod: null })
  const homes = bytes({ gone: 9, dev: 0.5, prod: 1 })
  assert.deepEqual(
    ['dev', 'prod'].map((type) => perUser.blockingLimit(type, homes)?.type),
    [null, undefined],
  )
  const { template } = readTemplate('lab', { image: 'x', home: null })
  const { template: dev } = readTemplate('dev', { image: 'x' })
  assert.ok(template && dev)
  const withoutHome = new DiskLimits(new Templates([template, dev]), 10 * GiB, unsharedHomes().names)
  assert.equal(withoutHome.blockingLimit('dev', bytes({ lab: 9, dev: 1 })), undefined)
})

test('the limit of one home keeps no other type from starting, and its own only from a quarter beyond it', () => {
  const perHome = limits(null, { dev: '4g', prod: null })
  assert.equal(perHome.blockingLimit('dev', bytes({ dev: 4.9 })), undefined)
  assert.deepEqual(perHome.blockingLimit('dev', bytes({ dev: 5, prod: 99 })), {
    type: 'dev',
    used: 5 * GiB,
    limit: 4 * GiB,
  })
  assert.equal(perHome.blockingLimit('prod', bytes({ dev: 5, prod: 99 })), undefined)
  assert.equal(perHome.nearlyFull(bytes({ dev: 3.6 })).length, 1)
  assert.equal(perHome.nearlyFull(bytes({ dev: 3.5 })).length, 0)
})
