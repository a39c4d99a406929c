import assert from 'node:assert/strict'
import { test } from 'node:test'
import { landingUrlFor } from './landing-url.ts'

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
