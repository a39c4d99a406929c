import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { platformCookieNames, platformCookies } from '@berth/gateway/proxy/cookies.ts'
import { platformRequestHeaders } from '@berth/gateway/proxy/request-headers.ts'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { exchange, get } from '#test/support/gateway/raw-client.ts'
import { echoApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { annCookie } from '#test/support/gateway/tokens.ts'
import { root, sources } from '#test/support/imports.ts'

/** Sources of the API process that see requests of clients. */
const readers = sources.filter((file) => /^server\/src\/(http|accounts|sharing|groups|wiring)\//.test(file))
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8')

/** Set by the gateway, or passed on by rules of their own. */
const others = [
  'authorization',
  'content-length',
  'cookie',
  'host',
  'traceparent',
  'transfer-encoding',
  'x-berth-proxy',
  'x-forwarded-for',
]
/** Read of answers, and of a client of the socket itself: the gateway takes `Upgrade` out of all requests to the API. */
const notOfClients = ['etag', 'upgrade']

test('each header that the API reads is one that the gateway passes on', () => {
  const read = new Set(readers.flatMap((file) => headersReadIn(textOf(file))))
  assert.ok(read.size > 20, `only ${read.size} are found`)
  const passed = new Set([...platformRequestHeaders, ...others, ...notOfClients])
  assert.deepEqual(
    [...read].filter((name) => !passed.has(name)),
    [],
  )
})

test('each cookie that the API reads is one that the gateway passes on', () => {
  const named = readers.flatMap((file) =>
    [...textOf(file).matchAll(/'((?:__Host-Http-|__Http-)?(?:spawner|berth)_[a-z]+)'/g)].map(([, name = '']) => name),
  )
  assert.ok(named.length > 5, `only ${named.length} are found`)
  assert.deepEqual(
    named.filter((name) => !platformCookieNames.includes(name)),
    [],
  )
})

test('the API receives the headers that it reads, and no others; a container receives all', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const junk = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`x-junk-${at}`, 'junk']))
  const known = { 'accept-language': 'de', 'X-CSRF-Token': 'proof', 'Sec-Fetch-Site': 'same-origin' }
  const headers = { ...annCookie, ...junk, ...known, referer: 'http://elsewhere/' }
  const api = await received(port, '/api/x', headers)
  assert.deepEqual(Object.keys(api.headers).toSorted(), [
    'accept-language',
    'cookie',
    'host',
    'sec-fetch-site',
    'x-berth-proxy',
    'x-berth-request-id',
    'x-csrf-token',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
  ])
  assert.equal(api.headers['x-csrf-token'], 'proof')
  const app = await received(port, '/ann-dev/x', headers)
  for (const name of [...Object.keys(junk), 'referer']) assert.ok(app.headers[name], name)
})

test('a long value is cut for the API, which reads less of it; a container receives it whole', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const headers = { ...annCookie, range: `bytes=${'0-1,'.repeat(5_000)}0-1` }
  const api = await received(port, '/api/x', { ...headers, authorization: `Basic ${'x'.repeat(9_000)}` })
  assert.ok(String(api.headers['range']).length < 1_200)
  assert.ok(String(api.headers['authorization']).length > 4_200, 'longer than any token that is read')
  assert.equal((await received(port, '/ann-dev/x', headers)).headers['range'], headers.range)
})

test('where a body ends is passed on whatever number of lines comes before it', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const lines = [
    'Host: localhost',
    'Connection: close',
    ...Array.from({ length: 90 }, () => 'Accept: text/html'),
    `Content-Length: ${' '.repeat(3_000)}5`,
  ]
  const answer = await exchange(port, `POST /api/x HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nhello`)
  assert.match(answer, /^HTTP\/1\.1 200 /)
  const echo = JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? '') as Echo
  assert.equal(echo.body, 'hello')
  assert.equal(echo.lines.filter((line) => /^accept:/i.test(line)).length, 40)
})

test('of many cookies the API receives those that it reads, with the values that it would read of all', () => {
  const attempt = `spawner_oidc_${'0123456789abcdef'}`
  const ours = [...platformCookieNames, attempt, `__Http-${attempt}`]
  const junk = 'a=; x_spawner_token=1; b="spawner_token=2"; spawner_tokens=3; '
  const values = ours.flatMap((name) => Array.from({ length: 20 }, (_, at) => `${name}=${at}`))
  const header = `${ours[0]} = first; ${junk.repeat(300)}${values.join(';')}; ${junk}`
  const passed = platformCookies(header) ?? ''
  for (const name of ours) assert.deepEqual(cookieValues(passed, name), cookieValues(header, name), name)
  assert.ok(passed.length < header.length / 2)
  assert.doesNotMatch(passed, /x_spawner|spawner_tokens|\ba=/)
})

test('cookies that the API does not read leave no header; few of them are passed on as they are', () => {
  assert.equal(platformCookies('a=;'.repeat(10_000)), undefined)
  assert.equal(platformCookies('theme=dark;spawner_token=x'), 'theme=dark;spawner_token=x')
  assert.equal(platformCookies(undefined), undefined)
})

async function received(port: number, target: string, headers: Record<string, string>): Promise<Echo> {
  const { status, body } = await get(port, target, { headers })
  assert.equal(status, 200, body)
  return JSON.parse(body) as Echo
}

/** Names in `headers.name`, `headers['name']` and `const { name } = headers`. */
function headersReadIn(text: string): string[] {
  const dotted = [...text.matchAll(/\bheaders\.([a-z]+)\b(?!\()/g)].map(([, name = '']) => name)
  const quoted = [...text.matchAll(/\bheaders\['([\w-]+)'\]/g)].map(([, name = '']) => name)
  const unpacked = [...text.matchAll(/\{([^{}]*)\} = (?:\w+\.)*headers\b/g)].flatMap(([, list = '']) =>
    list.split(',').map((each) => each.split(':', 1)[0]?.trim().replaceAll("'", '') ?? ''),
  )
  return [...dotted, ...quoted, ...unpacked].filter((name) => name !== '' && name !== 'ts')
}
