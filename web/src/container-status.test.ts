import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionsFor, statusView } from './container-status.ts'

const entry = { status: 'running', is_blocked: false, container_id: 'c1' }

test('a running container is opened, and restarted where it is of the first type', () => {
  assert.deepEqual(actionsFor(entry, true), { open: true, launch: false, restart: true, readLogs: true })
  assert.deepEqual(actionsFor(entry, false), { open: true, launch: false, restart: false, readLogs: true })
})

test('a container that was never launched has nothing to restart', () => {
  const fresh = { status: 'not_created', is_blocked: false, container_id: null }
  assert.deepEqual(actionsFor(fresh, true), { open: false, launch: true, restart: false, readLogs: false })
})

test('a blocked container offers nothing but to read what it wrote, even while the engine still reports it running', () => {
  const blocked = { ...entry, is_blocked: true }
  assert.deepEqual(actionsFor(blocked, true), { open: false, launch: false, restart: false, readLogs: true })
  assert.equal(statusView(blocked).word, 'Blocked')
})

test('a status that no engine has reported before is shown as it is', () => {
  assert.equal(statusView({ ...entry, status: 'hibernating' }).word, 'hibernating')
  assert.equal(statusView({ ...entry, status: 'constructor' }).word, 'constructor')
})
