import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { exchange, get } from '#test/support/gateway/raw-client.ts'
import { echoApp } from '#test/support/gateway/test-apps.ts'
import { bob, bobToken } from '#test/support/gateway/tokens.ts'

/**
 * Ann lets Bob look at `ann-dev`: he changes nothing in it, also not where a framework takes another method from somewhere in a
 * GET. First three names of headers were refused; attackers came back with other spellings, with parameters, and with bodies.
 */
const grants = [{ to: 'bob@example.org', may: 'look', until: Date.now() + 3_600_000 }] as const
const look = { shares: [{ prefix: 'ann-dev', grants }] }

test('another method by a header is refused, whatever framework it is for and however it is spelled', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), look)
  const statusWith = async (name: string) =>
    (await get(port, '/ann-dev/', { headers: { ...bob, [name]: 'DELETE' } })).status
  const names = [
    'X-HTTP-Method-Override',
    'X-HTTP-Method',
    'X-Method-Override',
    'HTTP-Method-Override',
    'Method-Override',
    'X-Method',
    'X-HTTP-Verb',
    'X-Override-Method',
    'X-Original-Method',
    '_method',
    'Request-Method',
  ]
  for (const name of names)
    // CGI-like apps take every character that is no letter for `_`, and some drop it.
    for (const spelled of [
      name,
      name.toUpperCase(),
      ...['_', '.', '~', '!', ''].map((by) => name.replaceAll(/[-_]/g, by)),
    ])
      assert.equal(await statusWith(spelled), 403, spelled)
})

test('another method by a parameter of the address is refused, in each way in which it may be written', async (t) => {
  // WordPress takes the parameter from a GET.
  const { port } = await startGatewayHarness(t, echoApp(), look)
  const refused = [
    '_method=DELETE',
    'a=b&_method=delete',
    'a;_method=PUT',
    '_METHOD=PUT',
    '%5Fmethod=PUT',
    '_%6dethod=PUT',
    '%5f%4Dethod=PUT',
    '%u005fmethod=PUT',
    '+_method=PUT',
    '%20_method=PUT',
    '.method=PUT',
    '_method[]=PUT',
    '_method%5B%5D=PUT',
    '_method%00x=PUT',
    '_method',
    '?_method=PUT',
    '__method=PUT',
    '$method=PUT',
    '$m=PUT',
    '$httpMethod=PUT',
    '%24httpMethod=PUT',
    '_http_method=PUT',
    'x-http-method-override=PUT',
    'x_method=PUT',
    'X-HTTP-Method=PUT',
    'methodOverride=PUT',
    'override_method=PUT',
    'http_method_override=PUT',
    '_verb=PUT',
  ]
  for (const query of refused)
    assert.equal((await get(port, `/ann-dev/posts/1?${query}`, { headers: bob })).status, 403, query)
})

test('a body is refused: its fields may name another method, and so may the lines behind it', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), look)
  const form = { ...bob, 'content-type': 'application/x-www-form-urlencoded' }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const body = '_method=DELETE'
    assert.equal(
      (await get(port, '/ann-dev/', { method, headers: { ...form, 'content-length': 14 }, body })).status,
      403,
    )
    const chunked = { ...form, 'transfer-encoding': 'chunked' }
    assert.equal((await get(port, '/ann-dev/', { method, headers: chunked, body })).status, 403)
  }
  const head = `GET /ann-dev/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${bobToken}\r\n`
  const trailers = 'Transfer-Encoding: chunked\r\n\r\n0\r\nX-HTTP-Method-Override: DELETE\r\n\r\n'
  assert.match(await exchange(port, head + trailers), /^HTTP\/1\.1 403 /)
  assert.match(await exchange(port, `${head}Content-Length: 0\r\n\r\n`), /^HTTP\/1\.1 200 /)
})

test('whatever only looks like it is taken: preflights, and parameters of the app that tell of methods', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), look)
  const preflight = { ...bob, 'access-control-request-method': 'DELETE' }
  assert.equal((await get(port, '/ann-dev/', { method: 'OPTIONS', headers: preflight })).status, 200)
  const taken = [
    '',
    'method=card',
    'payment_method=card',
    'http_method=POST',
    'q=_method',
    'q=a%26_method=PUT',
    'a=b=_method',
    'methods=x',
    'verbose=1',
    'm=1',
    '_m=1',
    'overrides=1',
    '%',
    '%zz=1',
    '&&;;==',
    'x=%00_method',
  ]
  for (const query of taken) assert.equal((await get(port, `/ann-dev/?${query}`, { headers: bob })).status, 200, query)
  assert.equal((await get(port, '/ann-dev/_method=PUT', { headers: { ...bob, 'x-verbose': '1' } })).status, 200)
})
