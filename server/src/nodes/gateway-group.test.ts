import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayChange, GatewayState, GatewayUser, RouteEntry } from '@berth/gateway/port/gateway.ts'
import { StateCopy } from './gateway-group.ts'

const now = Date.now()
const user = (userId: number): GatewayUser => ({
  userId,
  slug: `user${userId}`,
  email: `${userId}@x.org`,
  isBlocked: false,
  isAdmin: false,
  createdAt: 0,
})
const route = (prefix: string): RouteEntry => ({
  prefix,
  ownerId: 1,
  type: 'dev',
  isBlocked: false,
  where: { reason: 'asleep', exitCode: null },
})
const shares = (prefix: string) => ({ prefix, grants: [{ to: 'bob@x.org', may: 'look', until: now }] as const })
const group = { groupId: 7, emails: ['bob@x.org'] }
const revocation = { jti: 'laptop', expiresAt: now + 1_000 }

test('a gateway that joins gets what all changes have led to', () => {
  const copy = new StateCopy()
  const before: GatewayState = {
    users: [user(1)],
    routes: [route('a-dev'), route('b-dev')],
    revoked: [],
    shares: [shares('a-dev')],
  }
  copy.replace(before)
  const changes: GatewayChange[] = [
    { kind: 'user', user: user(2) },
    { kind: 'user-gone', userId: 1 },
    { kind: 'route', route: { ...route('b-dev'), isBlocked: true } },
    { kind: 'route-gone', prefix: 'a-dev' },
    { kind: 'revoked', revocation },
    { kind: 'shares', shares: { prefix: 'a-dev', grants: [] } },
    { kind: 'shares', shares: shares('b-dev') },
    { kind: 'share-group', group },
  ]
  copy.apply(changes)
  assert.deepEqual(copy.all(now), {
    users: [user(2)],
    routes: [{ ...route('b-dev'), isBlocked: true }],
    revoked: [revocation],
    shares: [shares('b-dev')],
    shareGroups: [group],
  })
  copy.apply([{ kind: 'share-group', group: { groupId: 7, emails: [] } }])
  assert.deepEqual(copy.all(now).shareGroups, [])
  copy.replace(before)
  assert.deepEqual(copy.all(now), { ...before, shareGroups: [] })
})

test('revocations are kept for two days after their tokens have expired', () => {
  const copy = new StateCopy()
  copy.replace({ users: [], routes: [], revoked: [revocation] })
  assert.equal(copy.all(now + 2 * 86_400_000).revoked.length, 1)
  assert.equal(copy.all(now + 2 * 86_400_000 + 2_000).revoked.length, 0)
})
