import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionsFor, statusView } from './container-status.ts'

const entry = { status: 'running', is_blocked: false, container_id: 'c1', last_used: null }
const still = { isStarting: false }
const nothing = { open: false, launch: false, restart: false, stop: false, readLogs: false }

test('a running container can be opened, stopped or restarted', () => {
  const all = { ...nothing, open: true, restart: true, stop: true, readLogs: true }
  assert.deepEqual(actionsFor(entry, still), all)
})

test('a container that was never launched can be neither restarted nor stopped', () => {
  const fresh = { status: 'not_created', is_blocked: false, container_id: null }
  assert.deepEqual(actionsFor(fresh, still), { ...nothing, launch: true })
})

test('a launch that is under way can be stopped before there is a container', () => {
  const fresh = { status: 'not_created', is_blocked: false, container_id: null }
  assert.equal(actionsFor(fresh, { ...still, isStarting: true }).stop, true)
})

test('a paused container can be opened, which resumes it, or stopped', () => {
  const { open, launch, stop } = actionsFor({ ...entry, status: 'paused' }, still)
  assert.deepEqual([open, launch, stop], [true, false, true])
})

test('a blocked container offers only its logs, even while the engine still reports it running', () => {
  const blocked = { ...entry, is_blocked: true }
  assert.deepEqual(actionsFor(blocked, { ...still, isStarting: true }), { ...nothing, readLogs: true })
  assert.equal(statusView(blocked).word, 'blocked')
})

test('a used container that the engine no longer has counts as stopped; one never launched does not', () => {
  const { word, hint } = statusView({ ...entry, status: 'not_created', last_used: '2026-10-01T00:00:00.000Z' })
  assert.deepEqual([word, hint], ['stopped', 'renewed'])
  assert.equal(statusView({ ...entry, status: 'not_created' }).word, 'notLaunched')
})

test('an unknown status of the engine has no word of ours', () => {
  assert.equal(statusView({ ...entry, status: 'hibernating' }).word, undefined)
  assert.equal(statusView({ ...entry, status: 'constructor' }).word, undefined)
})

test('how a program ended is shown until it is started again', () => {
  assert.equal(statusView({ ...entry, status: 'exited' }, 'out-of-memory').hint, 'outOfMemory')
  assert.equal(statusView({ ...entry, status: 'exited' }, 'asleep').word, 'stopped')
  assert.deepEqual(statusView({ ...entry, status: 'exited' }, 'evicted'), {
    word: 'stopped',
    tone: 'idle',
    hint: 'evicted',
  })
  assert.equal(statusView({ ...entry, status: 'removing' }, 'node-lost').hint, 'nodeLost')
  assert.equal(statusView({ ...entry, status: 'removing' }, 'asleep').word, 'removing')
  assert.equal(statusView(entry, 'crashed').word, 'running')
})
