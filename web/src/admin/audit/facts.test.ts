import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { containersIn, factsOf, operatorIn, subjectOf } from './facts.ts'

const entry: AuditEntry = {
  id: 7,
  at: '2026-11-21T09:00:00.000Z',
  actor: { id: 1, email: 'ada@example.org' },
  action: 'user.block',
  target: 'user:12',
  detail: { containers: [3, 4], before: { is_blocked: false }, after: { is_blocked: true }, address: '192.0.2.7' },
}

test('facts are sorted into address, reason, changes, and others', () => {
  assert.deepEqual(factsOf(entry), {
    reason: undefined,
    address: '192.0.2.7',
    changes: [{ name: 'is_blocked', before: false, after: true }],
    others: [{ name: 'containers', value: [3, 4] }],
  })
  const deleted = factsOf({ detail: { reason: 'left', before: { email: 'bo@example.org' } } })
  assert.deepEqual(
    [deleted.reason, deleted.changes],
    ['left', [{ name: 'email', before: 'bo@example.org', after: null }]],
  )
})

test('the subject has its current address, else that of the entry, else none', () => {
  assert.equal(subjectOf(entry, { 12: 'bo@example.org' }).email, 'bo@example.org')
  assert.equal(subjectOf(entry, {}).email, undefined)
  assert.equal(subjectOf({ ...entry, detail: { before: { email: 'old@example.org' } } }, {}).email, 'old@example.org')
  assert.equal(subjectOf({ ...entry, detail: { email: 'new@example.org' } }, {}).email, 'new@example.org')
})

test('a container belongs to its owner, and an entry about neither has no subject', () => {
  const stopped = { ...entry, action: 'container.stop', target: 'container:3', detail: { user: 12, type: 'dev' } }
  assert.deepEqual(subjectOf(stopped, { 12: 'bo@example.org' }), {
    id: 12,
    email: 'bo@example.org',
    containerId: 3,
    type: 'dev',
  })
  const { id, email, containerId } = subjectOf({ ...entry, target: 'key:abc', detail: {} }, { 12: 'bo@example.org' })
  assert.deepEqual([id, email, containerId], [undefined, undefined, undefined])
})

test('an entry without an account is the operator’s', () => {
  assert.equal(operatorIn({ ...entry, actor: { id: null, email: 'operator root' } }), 'root')
  assert.equal(operatorIn(entry), undefined)
  assert.deepEqual([containersIn(entry), containersIn({ ...entry, detail: {} })], [2, 0])
})
