import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { TypeRules } from '@berth/gateway/port/gateway.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf } from '#test/support/gateway/http-text.ts'
import { exchange } from '#test/support/gateway/raw-client.ts'
import { httpApp } from '#test/support/gateway/test-apps.ts'
import { annToken, bobToken, browser, tokenFor } from '#test/support/gateway/tokens.ts'

/** Pages of a container that its visitor does not own: an origin of their own, and nothing that outlives them. */
const start = async (t: TestContext, rules: Partial<TypeRules>) => {
  const { port } = await startGatewayHarness(
    t,
    httpApp((request, response) => {
      const own = request.url === '/open' ? { 'access-control-allow-origin': '*' } : {}
      response.writeHead(200, { 'content-security-policy': "script-src 'self'", ...own }).end('the app')
    }),
    { rules },
  )
  const ask = (token: string | undefined, path = '', ...lines: readonly string[]) => {
    const cookie = token === undefined ? [] : [`Cookie: spawner_token=${token}`]
    return exchange(
      port,
      headOf(
        `GET ${path.startsWith('/') ? path : `/ann-dev/${path}`} HTTP/1.1`,
        'Host: spawner.test',
        'Connection: close',
        ...cookie,
        ...lines,
      ),
    )
  }
  return ask
}
const policiesIn = (answer: string) =>
  [...answer.matchAll(/^content-security-policy: (.*)\r$/gim)].map((match) => match[1] ?? '')
const isSandboxed = (answer: string) => policiesIn(answer).some((policy) => policy.startsWith('sandbox '))
const acting = await tokenFor(1, { acting: '2' })

for (const access of ['public', 'authenticated'] as const)
  test(`${access}: visitors get every answer in a sandbox without the origin, beside the app's own policy; the owner does not`, async (t) => {
    const ask = await start(t, { access })
    for (const visitor of access === 'public' ? [bobToken, undefined] : [bobToken]) {
      const answer = await ask(visitor)
      assert.match(answer, /^HTTP\/1\.1 200 /)
      const [policy = ''] = policiesIn(answer).filter((each) => each.startsWith('sandbox '))
      assert.match(policy, /allow-scripts/)
      assert.doesNotMatch(policy, /allow-same-origin|allow-popups-to-escape-sandbox|allow-top-navigation/)
      assert.ok(policiesIn(answer).includes("script-src 'self'"))
      assert.match(answer, /^vary: .*cookie/im)
    }
    const own = await ask(annToken)
    assert.deepEqual([isSandboxed(own), /^vary: .*cookie/im.test(own)], [false, true])
  })

test('where the owner alone passes, nothing is added; where the operator trusts all owners, neither', async (t) => {
  assert.deepEqual(policiesIn(await (await start(t, {}))(annToken)), ["script-src 'self'"])
  const trusting = await start(t, { access: 'public', sandboxVisitors: false })
  for (const who of [bobToken, undefined]) assert.deepEqual(policiesIn(await trusting(who)), ["script-src 'self'"])
})

test("who acts for the owner gets a sandbox, whatever the template says, and a browser's navigation no page", async (t) => {
  for (const rules of [{}, { access: 'public', sandboxVisitors: false }] as const) {
    const ask = await start(t, rules)
    assert.ok(isSandboxed(await ask(acting)))
  }
  const ask = await start(t, {})
  const lines = Object.entries(browser).map(([name, value]) => `${name}: ${value}`)
  const answer = await ask(acting, '', ...lines)
  assert.match(answer, /^HTTP\/1\.1 403 /)
  assert.match(answer, /While you act for another user, their containers do not open in your browser/)
  assert.match(await ask(annToken, '', ...lines), /^HTTP\/1\.1 200 /)
})

const workers = ['Service-Worker: script', 'Sec-Fetch-Dest: serviceworker', 'Sec-Fetch-Dest: sharedworker']

test('no script of a worker is given to who acts for the owner', async (t) => {
  const ask = await start(t, {})
  for (const line of workers) {
    assert.match(await ask(acting, 'sw.js', line), /^HTTP\/1\.1 403 /, line)
    assert.match(await ask(annToken, 'sw.js', line), /^HTTP\/1\.1 200 /, line)
  }
})

test('a service worker that a visitor has from before ends itself, and no other is registered', async (t) => {
  const ask = await start(t, { access: 'public' })
  for (const who of [bobToken, undefined]) {
    for (const line of workers.slice(0, 2)) assert.match(await ask(who, 'sw.js', line), /registration\.unregister/)
    assert.match(await ask(who, 'sw.js', workers[2] ?? ''), /^HTTP\/1\.1 403 /)
  }
})

test('a sandboxed page of a public app may load its modules, styles and fonts; no other page may fetch and read them', async (t) => {
  const ask = await start(t, { access: 'public' })
  const shared = async (path: string, ...lines: readonly string[]) =>
    [...(await ask(undefined, path, ...lines)).matchAll(/^access-control-allow-origin: (.*)\r$/gim)].map(
      (match) => match[1],
    )
  for (const part of ['script', 'style', 'font'])
    for (const path of ['', 'open'])
      assert.deepEqual(await shared(path, 'Origin: null', `Sec-Fetch-Dest: ${part}`), ['null'])
  const script = 'Sec-Fetch-Dest: script'
  for (const lines of [
    ['Origin: null'],
    ['Origin: null', 'Sec-Fetch-Dest: empty'],
    [script],
    ['Origin: http://evil.test', script],
  ])
    assert.deepEqual(await shared('', ...lines), [], lines.join())
  assert.deepEqual(await shared('open', 'Origin: null', 'Sec-Fetch-Dest: empty'), ['*'], 'the app may say so itself')
})

test('a sandboxed page opens no WebSocket: its origin is none', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    httpApp((_, response) => response.end()),
    { rules: { access: 'public' } },
  )
  const handshake = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  for (const token of [bobToken, annToken, 'none']) {
    const lines = ['Host: spawner.test', 'Connection: Upgrade, close', ...handshake, 'Origin: null']
    const head = headOf('GET /ann-dev/ws HTTP/1.1', ...lines, `Cookie: spawner_token=${token}`)
    assert.match(await exchange(port, head), /^HTTP\/1\.1 403 /)
  }
})

const fromSandbox = (destination: string, ...more: readonly string[]) => [
  'Sec-Fetch-Site: cross-site',
  `Sec-Fetch-Dest: ${destination}`,
  ...more,
]
for (const destination of ['script', 'style'])
  test(`a ${destination} that a page in a sandbox asks for without a sign-in is a note, in the language of its visitor, at every address alike`, async (t) => {
    const ask = await start(t, { access: 'authenticated' })
    const lines = fromSandbox(destination, 'Accept-Language: de')
    const answer = await ask(undefined, 'app.js', ...lines)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.match(answer, /unvollst.{1,5}ndig/)
    const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n'))
    assert.equal(bodyOf(await ask(undefined, '/nobody-dev/app.js', ...lines)), bodyOf(answer))
  })

test('no note for other parts of a page, for the same site, and for who is signed in', async (t) => {
  const ask = await start(t, {})
  for (const lines of [fromSandbox('image'), ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Dest: script']])
    assert.match(await ask(undefined, 'app.js', ...lines), /^HTTP\/1\.1 401 /)
  assert.match(await ask(bobToken, 'app.js', ...fromSandbox('script')), /^HTTP\/1\.1 403 /)
  assert.match(await ask(annToken, 'app.js', ...fromSandbox('script')), /the app/)
})
