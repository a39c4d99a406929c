import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayBeforeOpening, isReadyEvent, landingUrlFor } from './open-container.ts'

const service = 'http://spawner.berth.test:8080/ann-dev'

const inside = {
  '/ann-dev/x': '/ann-dev/x',
  '/ann-dev': '/ann-dev',
  '/ann-dev?a=1': '/ann-dev?a=1',
  '/ann-dev/files/../x?a=%2F&b=//c#top': '/ann-dev/x?a=%2F&b=//c#top',
}

for (const [next, path] of Object.entries(inside)) {
  test(`a launch leads to ${next} of the same container`, () => {
    assert.equal(landingUrlFor(next, { service_url: service }), `http://spawner.berth.test:8080${path}`)
  })
}

const outside = {
  'another user’s container': '/bob-dev/',
  'another type': '/ann-prod/',
  'a type whose name begins alike': '/ann-development/',
  'another container behind dots': '/ann-dev/../bob-dev/',
  'another container behind encoded dots': '/ann-dev/%2e%2e/bob-dev/',
  'another host': '//evil.example/ann-dev/',
  'another host behind a backslash': '/\\evil.example/ann-dev/',
  'another host behind a tab': '/\t/evil.example/ann-dev/',
  'an absolute address': 'https://evil.example/ann-dev/',
  'a script': 'javascript:alert(1)//ann-dev/',
  'the API': '/api/auth/verify-login?token=theirs',
  'a path without a slash in front': 'ann-dev/x',
  nothing: null,
}

for (const [what, next] of Object.entries(outside)) {
  test(`a launch never leads to ${what}, but to the container itself`, () => {
    assert.equal(landingUrlFor(next, { service_url: service }), `${service}/`)
  })
}

test('a type with letters beyond ASCII is recognized in its encoded path', () => {
  assert.equal(
    landingUrlFor('/ann-%C3%BCbung/x', { service_url: 'http://berth.test/ann-%C3%BCbung' }),
    'http://berth.test/ann-%C3%BCbung/x',
  )
  assert.equal(
    landingUrlFor('/ann-übung/x', { service_url: 'http://berth.test/ann-%C3%BCbung' }),
    'http://berth.test/ann-%C3%BCbung/x',
  )
})

test('without a next the container opens at its open_path, and a next inside it is kept', () => {
  const container = { service_url: service, open_path: 'vnc.html?autoconnect=1' }
  assert.equal(landingUrlFor(undefined, container), `${service}/vnc.html?autoconnect=1`)
  assert.equal(landingUrlFor(`${new URL(service).pathname}/x`, container), `${service}/x`)
})

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
