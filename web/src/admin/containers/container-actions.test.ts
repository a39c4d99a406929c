import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { blockedNow, containerActionsFor } from './container-actions.ts'

const { email, slug, status, ...record }: ListedContainer = {
  id: 1,
  user_id: 2,
  container_type: 'dev',
  container_id: 'c1',
  container_port: 8080,
  template_image: 'editor:1',
  created_at: '2026-01-01T00:00:00.000Z',
  last_used: null,
  is_blocked: false,
  blocked_at: null,
  blocked_by: null,
  email: 'ann@x.org',
  slug: 'ann',
  status: 'running',
}
const row = { ...record, email, slug, status }
const blocked = { ...record, is_blocked: true, blocked_at: '2026-01-02T00:00:00.000Z', blocked_by: 9 }

test('a blocked container no longer runs, and keeps its owner', () => {
  assert.deepEqual(blockedNow(row, blocked), { ...blocked, email, slug, status: 'stopped' })
  assert.equal(blockedNow({ ...row, status: 'paused' }, blocked).status, 'stopped')
})

test('a stopped container stays as it was, and an unblock starts nothing', () => {
  assert.equal(blockedNow({ ...row, status: 'failed' }, blocked).status, 'failed')
  assert.equal(blockedNow({ ...row, ...blocked, status: 'stopped' }, record).status, 'stopped')
  assert.equal(blockedNow(row, undefined), row)
})

test('a stop and a restart are offered for what runs or is paused, logs for what is there, and either block or unblock', () => {
  for (const status of ['running', 'paused'] as const)
    assert.deepEqual(containerActionsFor({ is_blocked: false, status }), [
      'owner',
      'logs',
      'restart',
      'stop',
      'block',
      'delete',
    ])
  assert.deepEqual(containerActionsFor({ is_blocked: false, status: 'stopped' }), ['owner', 'logs', 'block', 'delete'])
  assert.deepEqual(containerActionsFor({ is_blocked: false, status: 'missing' }), ['owner', 'block', 'delete'])
  assert.deepEqual(containerActionsFor({ is_blocked: true, status: 'stopped' }), ['owner', 'logs', 'unblock', 'delete'])
  assert.ok(containerActionsFor({ is_blocked: false, status: 'failed' }).includes('restart'))
  assert.ok(!containerActionsFor({ is_blocked: true, status: 'failed' }).includes('restart'))
})
