import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  downstreamResponseHead,
  notableResponseHeaders,
  type ResponseContext,
} from '@berth/gateway/proxy/response-headers.ts'
import { isFault } from '@berth/gateway/http1/header-lines.ts'
import { readResponseHead } from '@berth/gateway/http1/response-head.ts'
import { routeTo, startGatewayHarness, usualRules } from '#test/support/gateway/gateway-harness.ts'
import { requestHead } from '#test/support/gateway/http-text.ts'
import { exchange } from '#test/support/gateway/raw-client.ts'
import { answering } from '#test/support/gateway/test-apps.ts'
import { timeLimit } from '#test/support/extent.ts'

/**
 * One account's own app answers its own requests with heads of 64 KB. While the gateway reads one, all other requests wait: 60
 * challenges of quotes took 58 ms each time.
 */
const destined: ResponseContext = {
  prefix: 'ann-dev',
  rules: usualRules,
  origin: 'http://spawner.test',
  route: { entry: routeTo('ann-dev', 1, 8888) },
  isIsolated: false,
  isForSandbox: false,
}
const size = 64_000
const filled = (line: string, piece: string, length = size) =>
  line + piece.repeat(Math.floor((length - line.length) / piece.length))
const many = (count: number, line: string, piece: string) =>
  Array.from({ length: count }, () => filled(line, piece, Math.floor(size / count) - 2))

const shapes: Record<string, readonly string[]> = {
  'challenges full of escaped quotes': many(66, 'WWW-Authenticate: bearer a="', '\\"'),
  'challenges full of quotes': many(66, 'WWW-Authenticate: bearer ', '"'),
  'challenges full of blanks': many(66, 'WWW-Authenticate: bearer a', ' \t'),
  'short challenges': many(95, 'WWW-Authenticate: bearer a="', '\\"').map((line) => line.slice(0, 255)),
  'one cookie of semicolons': [filled('Set-Cookie: a=b', ';')],
  'cookies of semicolons': many(95, 'Set-Cookie: a=b', ';'),
  'cookies of paths': many(9, 'Set-Cookie: a=b', ';path=/'),
  'cookies of blanks': many(95, 'Set-Cookie: a=b; path', ' '),
  'one list of connection options': [filled('Connection: a', ',a')],
  'lists of connection options': many(95, 'Connection: a', ',a'),
  'a list of blanks': [filled('Connection: a', ' ,')],
  'Cache-Control of directives': many(95, 'Cache-Control: public', ',public'),
  'one Cache-Control of commas': [filled('Cache-Control: a', ',')],
  'Cache-Control of blanks': many(9, 'Cache-Control: s-maxage', ' '),
  'Refresh full of semicolons': many(95, 'Refresh: 5', '; url'),
  'Location full of slashes': many(95, 'Location: /', '/'),
  'Location of a long host': many(9, 'Location: //', 'a:'),
  'Link full of quotes': [filled('Link: ', '"\\')],
  'Link full of addresses': many(9, 'Link: ', '</>'),
  'Link full of beginnings': many(9, 'Link: ', '<'),
  'Content-Location of ports': many(95, 'Content-Location: http://spawner.test:', '8'),
}

for (const [what, lines] of Object.entries(shapes))
  test(`an answer's head takes less than two milliseconds: ${what}`, () => {
    const text = `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`
    assert.ok(text.length > 20_000 && text.length <= 65_536, `${text.length} characters`)
    const handle = () => {
      const head = readResponseHead(text, notableResponseHeaders, false)
      if (!isFault(head))
        downstreamResponseHead(head, destined, { isLast: false, isUnchunked: false, isUpgrade: false })
    }
    for (let warm = 0; warm < 10; warm++) handle()
    const before = process.cpuUsage()
    for (let each = 0; each < 200; each++) handle()
    const { user, system } = process.cpuUsage(before)
    const took = (user + system) / 1_000 / 200
    assert.ok(took < timeLimit(2), `${took.toFixed(2)} ms`)
  })

const answerTo = async (t: Parameters<typeof startGatewayHarness>[0], lines: readonly string[]) => {
  const { port } = await startGatewayHarness(
    t,
    answering(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`),
  )
  return exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
}

test('what is left out of such heads', async (t) => {
  const cookies = await answerTo(t, [
    `Set-Cookie: big=${'x'.repeat(9_000)}`,
    `Set-Cookie: usual=${'x'.repeat(4_000)}; HttpOnly`,
    `Set-Cookie: odd=1; HttpOnly${';x'.repeat(100)}; Path=/; Domain=spawner.test`,
  ])
  assert.doesNotMatch(cookies, /big=/)
  assert.match(cookies, /usual=x{4000}; Path=\/ann-dev\/; HttpOnly\r\n/)
  assert.match(cookies, /odd=1; Path=\/ann-dev\/; HttpOnly(;x){1,20}\r\n/)
  const challenges = await answerTo(
    t,
    Array.from({ length: 20 }, (_, at) => `WWW-Authenticate: Bearer realm="${at}"`),
  )
  assert.deepEqual(challenges.match(/realm="\d+"/g), ['realm="0"', 'realm="1"', 'realm="2"', 'realm="3"'])
})

test('an answer with too many connection options is not passed on: what it names might be meant for the gateway alone', async (t) => {
  const options = 'a,'.repeat(400)
  assert.match(await answerTo(t, [`Connection: ${options}x-own`, 'X-Own: 1']), /^HTTP\/1\.1 200 /)
  assert.match(await answerTo(t, [`Connection: ${options.repeat(2)}x-own`, 'X-Own: 1']), /^HTTP\/1\.1 502 /)
  const two = [`Connection: ${options}x`, `Connection: ${options}x-own`, 'X-Own: 1']
  assert.match(await answerTo(t, two), /^HTTP\/1\.1 502 /)
})
