import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeVisit, type AppLocation } from './judge-visit.ts'
import { newRecord, type VisitRecord } from './visit-app.ts'

const origin = 'http://spawner.berth.localhost:4711'
const home = `${origin}/trial-app/`
const below: AppLocation = { home, platform: [origin] }

/** What is found in a visit of a page that is there, beside what is seen. */
function found(seen: Partial<VisitRecord>, location = below): string[] {
  const record = { ...newRecord(), finalUrl: location.home, ...seen }
  return judgeVisit(record, location).map(({ level, kind, what }) => `${level} ${kind}: ${what}`)
}

const request = (url: string, more: object = {}) => ({
  url,
  type: 'Script',
  status: 200,
  mimeType: 'text/javascript',
  failure: null,
  ...more,
})

test('what is below the prefix, the prefix itself and the icon that browsers ask for are nothing', () => {
  const urls = [`${home}app.js`, home.slice(0, -1), `${origin}/favicon.ico`]
  assert.deepEqual(found({ requests: urls.map((url) => request(url)), links: urls }), [])
})

test('an address whose first part only begins like the prefix is outside', () => {
  assert.deepEqual(found({ requests: [request(`${origin}/trial-app2/app.js?token=x`, { status: 404 })] }), [
    'breaks address: /trial-app2/app.js is outside of the prefix (404)',
  ])
})

test('a way back to the front end is a hint, and a first page that ends there breaks', () => {
  assert.deepEqual(found({ links: [`${origin}/`] }), ['hint address: the page leads to /, which is the front end'])
  assert.deepEqual(found({ finalUrl: `${origin}/` }), [
    'breaks redirect: the first page ends at /, outside of the prefix',
  ])
})

test('a page instead of a script, and a refused first page, break', () => {
  assert.deepEqual(found({ requests: [request(`${home}app.js`, { mimeType: 'text/html' })] }), [
    'breaks page: /trial-app/app.js is answered with a page instead of a script',
  ])
  const document = { type: 'Document', mimeType: 'text/html' }
  assert.deepEqual(found({ requests: [request(home, { ...document, status: 404 })] }), [
    'breaks page: /trial-app/ is answered with 404',
  ])
  assert.deepEqual(
    found({ requests: [request(home, { ...document, status: null, failure: 'ERR_TOO_MANY_REDIRECTS' })] }),
    ['breaks redirect: /trial-app/ redirects for ever'],
  )
})

test('a socket breaks that is never opened, but not one that was opened at the second try', () => {
  const url = `${home.replace('http', 'ws')}socket`
  const refused = { url, status: 403, error: null }
  assert.deepEqual(found({ sockets: [refused] }), [
    'breaks socket: the WebSocket /trial-app/socket is not opened: answered with 403',
  ])
  assert.deepEqual(found({ sockets: [refused, { url, status: 101, error: null }] }), [])
})

test('a cookie for the whole origin is a hint, one for another path breaks, and those of the platform are none', () => {
  const cookie = (name: string, path: string) => ({ name, domain: 'spawner.berth.localhost', path })
  const names = found({
    cookies: [
      cookie('own', '/trial-app/'),
      cookie('wide', '/'),
      cookie('lost', '/settings'),
      cookie('spawner_token', '/'),
      cookie('__Host-berth_session', '/'),
    ],
  }).map((text) => text.replace(/ has the path.*/, ''))
  assert.deepEqual(names, ['breaks cookie: the cookie lost', 'hint cookie: the cookie wide'])
})

test('an address inside of the container breaks, another host is a hint, and a host of its own has no prefix', () => {
  assert.match(
    found({ requests: [request('http://localhost:8080/api')] }).join(),
    /^breaks address: http:\/\/localhost:8080 /,
  )
  assert.match(
    found({ requests: [request('https://fonts.example/a.woff2')] }).join(),
    /^hint other host: https:\/\/fonts/,
  )
  const own = { home: 'http://trial-app.spawner.berth.localhost:4711/', platform: [origin] }
  const urls = [`${own.home}app.js`, `${origin}/api/auth/enter?code=x`]
  assert.deepEqual(found({ requests: urls.map((url) => request(url)) }, own), [])
})

test('of many findings of one kind six are named, and the rest is counted', () => {
  const links = Array.from({ length: 9 }, (_, at) => `${origin}/page-${at}`)
  const all = found({ links })
  assert.equal(all.length, 7)
  assert.equal(all.at(-1), 'hint address: 3 more of this kind')
})
