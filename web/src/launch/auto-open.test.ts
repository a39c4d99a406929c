import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayBeforeOpening, isReadyEvent } from './auto-open.ts'

const launched = { stage: undefined, answeredFor: undefined, isLive: true }

test('a container opens as soon as its app answers', () => {
  assert.equal(delayBeforeOpening({ ...launched, stage: 'ready' }), 0)
  assert.equal(delayBeforeOpening({ ...launched, stage: 'ready', answeredFor: 10 }), 0)
})

test('a container does not open before its program runs, nor after it failed', () => {
  for (const stage of [undefined, 'queued', 'pulling', 'starting', 'waiting'] as const)
    assert.equal(delayBeforeOpening({ ...launched, stage }), undefined)
  assert.equal(delayBeforeOpening({ stage: 'failed', answeredFor: 10, isLive: true }), undefined)
})

test('an app that never listens is opened after the timeout', () => {
  assert.equal(delayBeforeOpening({ stage: 'waiting', answeredFor: 20_000, isLive: true }), 40_000)
  assert.equal(delayBeforeOpening({ stage: 'waiting', answeredFor: 70_000, isLive: true }), 0)
})

test('without the event stream, a running program is opened', () => {
  assert.equal(delayBeforeOpening({ ...launched, answeredFor: 0, isLive: false }), 0)
  const quiet = delayBeforeOpening({ ...launched, answeredFor: 0 })
  assert.ok(quiet !== undefined && quiet > 0 && quiet < 5_000, 'a stage may be on its way')
})

test('of all events, the one that says that the app answers opens its container', () => {
  const event = (name: string, type: string, stage: string) => ({ name, data: { type, stage } })
  assert.ok(isReadyEvent(event('launch', 'dev', 'ready'), 'dev'))
  assert.ok(!isReadyEvent(event('launch', 'dev', 'waiting'), 'dev'))
  assert.ok(!isReadyEvent(event('launch', 'prod', 'ready'), 'dev'))
  assert.ok(!isReadyEvent(event('container', 'dev', 'ready'), 'dev'))
})
