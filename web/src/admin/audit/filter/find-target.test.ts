import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { findTarget } from './find-target.ts'

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
