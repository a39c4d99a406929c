import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { actionsFor, applyEvents, isFirstVisit, needsRefresh, sortedByUse, statusView } from './containers.ts'

const entry = (type: string, status: string): ContainerEntry => ({
  type,
  display_name: type,
  description: '',
  status,
  home: 'type',
  service_url: `http://x.test/ann-${type}`,
  container_id: status === 'not_created' ? null : 'c1',
  created_at: null,
  last_used: null,
  is_blocked: false,
  blocked_at: null,
})
const stands = (type: string, status: string) => ({ name: 'container', data: { type, status } })
const launch = (type: string, stage: string) => ({ name: 'launch', data: { type, stage } })
const snapshot = { name: 'snapshot', data: {} }
const entries = [entry('dev', 'running'), entry('prod', 'not_created')]
const statusOf = (told: string, before = 'running') =>
  applyEvents([entry('dev', before)], [stands('dev', told)])[0]?.status

test('an event changes the status of a container at once, in the words of the list', () => {
  assert.deepEqual(
    ['paused', 'asleep', 'crashed', 'missing', 'unknown'].map((told) => statusOf(told)),
    ['paused', 'exited', 'exited', 'not_found', 'error'],
  )
  assert.equal(applyEvents(entries, [stands('dev', 'blocked')])[0]?.is_blocked, true)
  assert.equal(statusOf('running', 'not_created'), 'running')
})

test('of several events about a container the last one counts', () => {
  assert.equal(applyEvents(entries, [stands('dev', 'asleep'), stands('dev', 'running')])[0]?.status, 'running')
})

test('an event with the status that is shown changes nothing', () => {
  const shown = [entry('dev', 'created'), entry('prod', 'not_created')]
  assert.equal(
    applyEvents(shown, [stands('dev', 'asleep'), stands('prod', 'missing'), stands('lab', 'running')]),
    shown,
  )
})

test('a changed container and an ended launch cause a refresh; a position in the queue does not', () => {
  assert.equal(needsRefresh(entries, [launch('dev', 'queued'), launch('dev', 'starting')]), false)
  for (const event of [stands('dev', 'running'), launch('dev', 'ready'), launch('dev', 'failed')])
    assert.equal(needsRefresh(entries, [event]), true)
})

test('a snapshot causes a refresh when it differs from what is shown', () => {
  assert.equal(needsRefresh(undefined, [snapshot, stands('dev', 'running')]), false)
  assert.equal(needsRefresh(entries, [snapshot, stands('dev', 'running'), stands('prod', 'missing')]), false)
  assert.equal(needsRefresh(entries, [snapshot, stands('dev', 'asleep')]), true)
})

test('the first visit is one before any launch but that of the sign-up', () => {
  const now = Date.parse('2026-11-21T09:00:00Z')
  const justNow = '2026-11-21T08:50:00.000Z'
  const never = [entry('dev', 'not_created'), entry('prod', 'not_created')]
  assert.equal(isFirstVisit(never, null, now), true)
  assert.equal(isFirstVisit(entries, justNow, now), true)
  assert.equal(isFirstVisit(entries, '2026-11-20T09:00:00.000Z', now), false)
  assert.equal(isFirstVisit([entry('dev', 'not_created'), entry('prod', 'exited')], justNow, now), false)
  assert.equal(isFirstVisit([], justNow, now), false)
})

const runningEntry = { ...entry('dev', 'running'), created_at: '2026-10-01T00:00:00.000Z' }
const still = { isStarting: false }
const nothing = {
  open: false,
  launch: false,
  restart: false,
  stop: false,
  readLogs: false,
  readFiles: false,
  seePorts: false,
}

test('a running container can be opened, stopped or restarted', () => {
  const all = { ...nothing, open: true, restart: true, stop: true, seePorts: true, readLogs: true }
  assert.deepEqual(actionsFor(runningEntry, still), all)
})

test('a template without further ports has no list of them', () => {
  assert.equal(actionsFor({ ...runningEntry, ports_off: true }, still).seePorts, false)
})

test('a container that was never launched can be neither restarted nor stopped', () => {
  const fresh = entry('dev', 'not_created')
  assert.deepEqual(actionsFor(fresh, still), { ...nothing, launch: true })
})

test('files of a home are shown while its container is stopped', () => {
  const stopped = { ...runningEntry, status: 'exited' }
  const readFiles = (more: object, isStarting = false) => actionsFor({ ...stopped, ...more }, { isStarting }).readFiles
  assert.equal(readFiles({}), true)
  assert.equal(readFiles({ is_blocked: true }), false)
  assert.equal(readFiles({ status: 'running' }), false)
  assert.equal(readFiles({ status: 'paused' }), false)
  assert.equal(readFiles({ home: null }), false)
  assert.equal(readFiles(entry('dev', 'not_created')), false)
  assert.equal(readFiles({}, true), false)
})

test('a launch that is under way can be stopped before there is a container', () => {
  const fresh = entry('dev', 'not_created')
  assert.equal(actionsFor(fresh, { ...still, isStarting: true }).stop, true)
})

test('a paused container can be opened, which resumes it, or stopped', () => {
  const { open, launch, stop } = actionsFor({ ...runningEntry, status: 'paused' }, still)
  assert.deepEqual([open, launch, stop], [true, false, true])
})

test('a blocked container offers only its logs, even while the engine still reports it running', () => {
  const blocked = { ...runningEntry, is_blocked: true }
  assert.deepEqual(actionsFor(blocked, { ...still, isStarting: true }), { ...nothing, readLogs: true })
  assert.equal(statusView(blocked).word, 'blocked')
})

test('a container whose group has ended offers its files and logs, and no start', () => {
  const ended = { ...runningEntry, status: 'exited', launch_refused: 'The group Physics has ended.' }
  const { launch, restart, open, readLogs } = actionsFor(ended, still)
  assert.deepEqual([launch, restart, open, readLogs], [false, false, false, true])
  assert.equal(actionsFor({ ...ended, home: 'type', created_at: '2026-10-01T00:00:00.000Z' }, still).readFiles, true)
})

test('a used container that the engine no longer has counts as stopped; one never launched does not', () => {
  const { word, hint } = statusView({ ...runningEntry, status: 'not_created', last_used: '2026-10-01T00:00:00.000Z' })
  assert.deepEqual([word, hint], ['stopped', 'renewed'])
  assert.equal(statusView({ ...runningEntry, status: 'not_created' }).word, 'notLaunched')
})

test('an unknown status of the engine has no word of ours', () => {
  assert.equal(statusView({ ...runningEntry, status: 'hibernating' }).word, undefined)
  assert.equal(statusView({ ...runningEntry, status: 'constructor' }).word, undefined)
})

test('how a program ended is shown until it is started again', () => {
  assert.equal(statusView({ ...runningEntry, status: 'exited' }, 'out-of-memory').hint, 'outOfMemory')
  assert.equal(statusView({ ...runningEntry, status: 'exited' }, 'asleep').word, 'stopped')
  assert.deepEqual(statusView({ ...runningEntry, status: 'exited' }, 'evicted'), {
    word: 'stopped',
    tone: 'idle',
    hint: 'evicted',
  })
  assert.equal(statusView({ ...runningEntry, status: 'removing' }, 'node-lost').hint, 'nodeLost')
  assert.equal(statusView({ ...runningEntry, status: 'removing' }, 'asleep').word, 'removing')
  assert.equal(statusView(runningEntry, 'crashed').word, 'running')
})

test('running ones come first, then paused ones, and each in the order of the list', () => {
  const all = ['exited', 'paused', 'running', 'not_created', 'running'].map((status, at) => entry(`t${at}`, status))
  assert.deepEqual(
    sortedByUse(all).map(({ type }) => type),
    ['t2', 't4', 't1', 't0', 't3'],
  )
})
