import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { actionsFor, lastUseOf } from './user-actions.ts'

const ann: AdminUser = {
  id: 7,
  email: 'ann@x.org',
  slug: 'ann',
  state: 'active',
  is_admin: false,
  is_blocked: false,
  last_used: null,
  created_at: '2026-01-01T00:00:00.000Z',
  containers: [],
}
const offered = (user: Partial<AdminUser>, myId = 1) =>
  Object.fromEntries(actionsFor({ ...ann, ...user }, myId).map(({ action, obstacle }) => [action, obstacle ?? 'can']))

test('a user without special state can be taken over, promoted, blocked and deleted', () => {
  assert.deepEqual(offered({}), { takeOver: 'can', promote: 'can', block: 'can', delete: 'can' })
})

test('administrators can neither block, demote, delete nor take over themselves, and see why', () => {
  assert.deepEqual(offered({ is_admin: true }, ann.id), {
    takeOver: 'self',
    demote: 'self',
    block: 'self',
    delete: 'self',
  })
})

test('another link is offered only for an unverified address, and not while the user is blocked', () => {
  assert.equal(offered({ state: 'registered' }).resend, 'can')
  assert.equal(offered({ state: 'registered', is_blocked: true }).resend, 'blocked')
  assert.equal(offered({ state: 'verified' }).resend, undefined)
})

test('either block or unblock is offered, and either promote or demote', () => {
  const blocked = offered({ is_blocked: true, is_admin: true })
  assert.deepEqual([blocked.unblock, blocked.block], ['can', undefined])
  assert.deepEqual([blocked.demote, blocked.promote], ['can', undefined])
})

test('a user who works in a container has used Berth, also without a sign-in since the sign-up', () => {
  const [early, late] = ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']
  const container = { last_used: late } as AdminUser['containers'][number]
  assert.equal(lastUseOf({ last_used: null, containers: [] }), null)
  assert.equal(lastUseOf({ last_used: null, containers: [{ ...container, last_used: null }, container] }), late)
  assert.equal(lastUseOf({ last_used: early, containers: [container] }), late)
  assert.equal(lastUseOf({ last_used: late, containers: [{ ...container, last_used: early }] }), late)
})
