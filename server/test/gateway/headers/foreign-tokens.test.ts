import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, headOf } from '#test/support/gateway/http-text.ts'
import { exchange } from '#test/support/gateway/raw-client.ts'
import { echoApp, watchfulApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { annToken, bobToken, tokenFor } from '#test/support/gateway/tokens.ts'

/**
 * Eve's own app receives scoped tokens of Eve and of its visitors. Sent on to Bob's app without a cookie, one of them went
 * through untouched, and an app that asks for no more than a valid token gave Eve a shell.
 */
const anothers = await tokenFor(1, { audience: '/eve-dev' })
const expired = await tokenFor(1, { expiresIn: -60 })
const revoked = await tokenFor(1, { jti: 'revoked' })
const useless = { "another container's": anothers, expired, revoked }
const plainHead = (...lines: readonly string[]) =>
  headOf('GET /ann-dev/ HTTP/1.1', 'Host: spawner.test', 'Connection: close', ...lines)
const basic = (token: string) => `Basic ${Buffer.from(`token:${token}`).toString('base64')}`

for (const [what, token] of Object.entries(useless)) {
  const carriers = [
    `Authorization: Bearer ${token}`,
    `authorization: bearer   ${token}  `,
    `Authorization: Token ${token}`,
    `Authorization: ${token}`,
    `Authorization: Bearer "${token}"`,
    `Authorization: Bearer x, Bearer ${token}`,
    `Authorization: Bearer ${token}.x`,
    `Authorization: Bearer ${token.slice(0, -4)}!${token.slice(-4)}`,
    `Authorization: ${basic(token)}`,
    `Cookie: spawner_token=${token}`,
    `Cookie: spawner_token=${token}; spawner_token=${anothers}`,
    `Cookie: token="${token}"`,
    `Cookie: session=Bearer%20${token}`,
    `X-Auth-Token: ${token}`,
    `Sec-WebSocket-Protocol: chat, ${token}`,
  ]
  test(`a token that does not authenticate never reaches a public app: ${what}`, async (t) => {
    const revocation = { jti: 'revoked', expiresAt: Date.now() + 3_600_000 }
    const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'public' }, revoked: [revocation] })
    for (const carrier of carriers) {
      const answer = await exchange(port, plainHead(carrier, 'X-Own: 1'))
      assert.match(answer, /^HTTP\/1\.1 200 /, carrier)
      const { headers, lines } = JSON.parse(bodyOf(answer)) as Echo
      assert.deepEqual(
        lines.filter((line) => line.includes(token.slice(0, 20)) || /^(authorization|cookie):/i.test(line)),
        [],
        carrier,
      )
      assert.equal(headers['x-berth-user'], undefined, carrier)
      assert.equal(headers['x-own'], '1', carrier)
    }
  })
}

test('only a Bearer token that does not count is called invalid; a request without one is asked for one', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const challengeOf = async (...lines: readonly string[]) =>
    /\r\nwww-authenticate: ([^\r]*)/i.exec(await exchange(port, plainHead(...lines)))?.[1]
  assert.equal(await challengeOf(), 'Bearer')
  assert.equal(await challengeOf('Authorization: Basic eDp5'), 'Bearer')
  assert.equal(await challengeOf(`Cookie: spawner_token=${expired}`), 'Bearer')
  assert.equal(await challengeOf(`Authorization: Bearer ${expired}`), 'Bearer error="invalid_token"')
  assert.equal(await challengeOf(`Authorization: Bearer ${anothers}`), 'Bearer error="invalid_token"')
  assert.equal(await challengeOf('Authorization: Bearer nonsense'), 'Bearer error="invalid_token"')
})

const randomText = 'Ab-_9'.repeat(9).slice(0, 43)
const apiToken = `berth_${randomText}`
/** Value of the cookie `berth_session`. */
const renewalCookie = `berth_12.${randomText}.era.2f6c`

test('an API token is 401 at every container, whatever cookie comes along', async (t) => {
  for (const access of ['owner', 'authenticated', 'public'] as const) {
    const { port } = await startGatewayHarness(t, echoApp(), { rules: { access } })
    for (const scheme of ['Bearer', 'bearer  '])
      for (const cookie of ['X-No: cookie', `Cookie: spawner_token=${annToken}`]) {
        const answer = await exchange(port, plainHead(`Authorization: ${scheme} ${apiToken}`, cookie))
        assert.match(answer, /^HTTP\/1\.1 401 /, `${access}, ${scheme}, ${cookie}`)
        assert.match(answer, /\r\nwww-authenticate: Bearer/i)
        assert.match(bodyOf(answer), /^\{"error":"An API token opens no container/)
      }
  }
})

for (const [what, secret] of Object.entries({ 'an API token': apiToken, 'a renewal cookie': renewalCookie })) {
  test(`${what} in any other header never reaches an app`, async (t) => {
    const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'public' } })
    const words = Array<string>(40).fill('eyJ.a').join(' ')
    for (const carrier of [
      `Authorization: Token ${secret}`,
      `Authorization: ${secret}`,
      `Authorization: Bearer "${secret}"`,
      `Authorization: Bearer ${secret}x`,
      `Authorization: ${basic(secret)}`,
      `Cookie: spawner_token=${secret}`,
      `Cookie: berth_session=${secret}`,
      `Cookie: token="${secret}"`,
      `X-Auth-Token: ${secret}`,
      `X-Auth-Token: ${words} ${secret}`,
      `X-Padding: ${words}\r\nX-Auth-Token: ${secret}`,
      `Referer: http://spawner.test/ann-dev/?token=${secret}`,
      `Sec-WebSocket-Protocol: chat, ${secret}`,
    ]) {
      const answer = await exchange(port, plainHead(carrier, 'X-Own: berth_of_an_app'))
      assert.match(answer, /^HTTP\/1\.1 200 /, carrier)
      const { headers, lines } = JSON.parse(bodyOf(answer)) as Echo
      const basicText = basic(secret).slice(6)
      assert.ok(!lines.some((line) => line.includes(secret) || line.includes(basicText)), carrier)
      assert.equal(headers['x-own'], 'berth_of_an_app', carrier)
    }
  })

  test(`${what} in a container's address is refused with words, and a page does not lead to the login`, async (t) => {
    const { app, seen } = watchfulApp()
    const { port } = await startGatewayHarness(t, app, { rules: { access: 'public' } })
    for (const target of [`/ann-dev/?token=${secret}`, `/ann-dev/a/${secret}/b`, `/ann-dev/?next=%3Ft%3D${secret}`]) {
      const line = `GET ${target} HTTP/1.1`
      const answer = await exchange(port, headOf(line, 'Host: spawner.test', 'Connection: close'))
      assert.match(answer, /^HTTP\/1\.1 401 /, target)
      assert.match(bodyOf(answer), /^\{"error":"This address contains an API token, or the cookie/)
      const page = await exchange(port, headOf(line, 'Host: spawner.test', 'Connection: close', 'Accept: text/html'))
      assert.match(page, /^HTTP\/1\.1 401 [^]*<h1>This address is not valid<\/h1>/)
    }
    assert.equal(seen(), '')
  })

  test(`${what} behind a chunked body never reaches an app`, async (t) => {
    const { app, seen } = watchfulApp()
    const { port } = await startGatewayHarness(t, app, { rules: { access: 'public' } })
    const head = headOf(
      'POST /ann-dev/ HTTP/1.1',
      'Host: spawner.test',
      'Connection: close',
      'Transfer-Encoding: chunked',
    )
    for (const trailer of [`X-Sum: 1\r\nX-Token: ${secret}`, `X-Sum: 1\r\nX-Token: ${anothers}`, 'X-Sum: 2'])
      await exchange(port, `${head}1\r\na\r\n0\r\n${trailer}\r\n\r\n`)
    assert.equal(seen().match(/\r\n0\r\n/g)?.length, 3)
    assert.match(seen(), /\r\n0\r\nX-Sum: 2\r\n\r\n$/)
    assert.ok(!seen().includes(randomText) && !seen().includes(anothers))
  })
}

test('beside the cookie of who is signed in, another token of ours is taken out, and tokens of the app stay', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'authenticated' } })
  const foreign = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"7"}').toString('base64url')}.c2ln`
  for (const [sent, received] of [
    [`Authorization: Token ${anothers}`, undefined],
    [`Authorization: Bearer ${foreign}`, `Bearer ${foreign}`],
    ['Authorization: Basic YTpi', 'Basic YTpi'],
  ] as const) {
    const head = plainHead(sent, `Cookie: app=${foreign}; spawner_token=${bobToken}; other=${anothers}`)
    const { headers } = JSON.parse(bodyOf(await exchange(port, head))) as Echo
    assert.equal(headers.authorization, received)
    assert.deepEqual(headers.cookie?.split('; ').sort(), [`app=${foreign}`, 'spawner_token=scoped-2-ann-dev'].sort())
    assert.equal(headers['x-berth-user'], 'bob@example.org')
  }
})

test("the owner's token is sent to the owner's container only, also for visitors", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'authenticated', forwardToken: 'full' } })
  for (const [token, received] of [
    [annToken, `Bearer ${annToken}`],
    [bobToken, 'Bearer scoped-2-ann-dev'],
  ] as const) {
    const answer = await exchange(port, plainHead(`Authorization: Bearer ${token}`))
    assert.equal((JSON.parse(bodyOf(answer)) as Echo).headers.authorization, received)
  }
})

test('a header full of words of a token’s form costs little, and reaches no app', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'public' } })
  for (const word of ['eyJ.a', 'eyJeyJ', 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImIifQ.a.']) {
    const many = Array.from({ length: Math.floor(28_000 / (word.length + 1)) }, () => word)
    const cpu = process.cpuUsage()
    for (const separator of [' ', '']) {
      const answer = await exchange(port, plainHead(`Authorization: ${many.join(separator)}`))
      assert.match(answer, /^HTTP\/1\.1 200 /)
    }
    assert.ok(process.cpuUsage(cpu).user < 300_000, `${process.cpuUsage(cpu).user} us for ${word}`)
  }
})
