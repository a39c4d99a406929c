import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import {
  addressOf,
  conditionsOf,
  filterIn,
  findTarget,
  fromLocalField,
  isFiltered,
  noFilter,
  toLocalField,
} from './audit-filter.ts'

test('a filter survives the URL unchanged', () => {
  const filter = {
    actor: 'ada+1@example.org',
    action: 'user.',
    target: 'user:12',
    since: '2026-11-20T23:00:00.000Z',
    until: '2026-11-21T09:30:00.000Z',
  }
  const address = new URL(addressOf(filter), 'http://berth.invalid')
  assert.deepEqual(filterIn(address.searchParams), filter)
  assert.deepEqual(conditionsOf(filter), filter)
  assert.equal(address.pathname, '/admin/audit')
})

test('without conditions the URL has no query, and none is sent', () => {
  assert.equal(addressOf(noFilter), '/admin/audit')
  assert.deepEqual(conditionsOf(noFilter), {})
  assert.deepEqual([isFiltered(noFilter), isFiltered({ ...noFilter, action: 'user.' })], [false, true])
})

test('an invalid instant is ignored, and other spellings are normalized', () => {
  const filter = filterIn(new URLSearchParams({ since: 'yesterday', until: '2026-11-21T10:00:00+01:00' }))
  assert.deepEqual([filter.since, filter.until], ['', '2026-11-21T09:00:00.000Z'])
})

test('fields show the reader’s own time, also across a change of the clocks', () => {
  const before = process.env.TZ
  process.env.TZ = 'Europe/Berlin'
  try {
    assert.equal(toLocalField('2026-07-01T10:00:00.000Z'), '2026-07-01T12:00')
    assert.equal(toLocalField('2026-01-01T10:00:00.000Z'), '2026-01-01T11:00')
    assert.equal(fromLocalField('2026-07-01T12:00'), '2026-07-01T10:00:00.000Z')
    assert.deepEqual([toLocalField(''), fromLocalField('')], ['', ''])
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
})

const users = [
  { id: 11, email: 'bo@example.org.uk', slug: 'bo2' },
  { id: 12, email: 'bo@example.org', slug: 'bo' },
] as AdminUser[]
const find = async (part: string) => users.filter(({ email, slug }) => email.includes(part) || slug.includes(part))

test('an address or slug becomes its user’s id, and a part of one does not', async () => {
  assert.equal(await findTarget(' Bo@Example.org ', find), 'user:12')
  assert.equal(await findTarget('bo', find), 'user:12')
  assert.equal(await findTarget('b', find), undefined)
  assert.equal(await findTarget('eve@example.org', find), undefined)
})

test('a target in the log’s own notation is taken without a request', async () => {
  const failingSearch = async () => Promise.reject(new Error('asked'))
  assert.equal(await findTarget('container:7', failingSearch), 'container:7')
  assert.equal(await findTarget('12', failingSearch), 'user:12')
  assert.equal(await findTarget('', failingSearch), '')
})
