import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ann, echoApp, echoed, get, exchange, requestHead, startBench } from '#test/support/gateway-bench.ts'

test('what follows the prefix reaches the app byte for byte', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const rest of [
    '/a%2Fb?x=1',
    '/a%2fb/c%20d?x=%2F&y=a+b&x=2',
    "/a;b=1/~c'(x)|[y]?q={\\}&r=100%",
    '/x/../y/./z',
    '//evil.example/x',
    '/@evil.example',
    '/%252e%252e/',
    '/a//b?',
  ]) {
    const { url } = await echoed(port, `/ann-dev${rest}`)
    assert.equal(url, rest)
  }
})

test('an app that keeps its prefix receives the whole path', async (t) => {
  const { port } = await startBench(t, echoApp(), { route: { stripPrefix: false } })
  assert.equal((await echoed(port, '/ann-dev/a%2Fb?x=1')).url, '/ann-dev/a%2Fb?x=1')
  assert.equal((await echoed(port, '/ann-dev?x=1')).url, '/ann-dev?x=1')
})

test('a program that asks for the bare prefix gets the root of the app', async (t) => {
  const { port } = await startBench(t, echoApp())
  assert.equal((await echoed(port, '/ann-dev?x=1')).url, '/?x=1')
})

test('the first segment is compared raw and whole', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const path of [
    '/ann-development/',
    '/ann-de/',
    '/ann-dev;x/',
    '/ann-dev../',
    '/%61nn-dev/',
    '/ANN-DEV/',
    '/ann-dev%2f',
    '/',
  ]) {
    assert.equal((await get(port, path, { headers: ann })).status, 404, path)
  }
})

test('an address whose dots lead out of the container is refused', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const rest of [
    '/..',
    '/../bob-dev/',
    '/x/../../bob-dev/',
    '/%2e%2e/bob-dev/',
    '/.%2E/bob-dev/',
    '/..%2fbob-dev/',
    '/x%2F..%2F..%5cbob-dev/',
    '//../bob-dev/',
    '/..;/bob-dev/',
  ]) {
    const { status, body } = await get(port, `/ann-dev${rest}`, { headers: ann })
    assert.equal(status, 400, rest)
    assert.match(body, /^\{"error":"This address is not valid/)
  }
})

test('a target that is no plain path is refused', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const target of [
    '//ann-dev/x',
    '//evil.example/ann-dev/',
    'http://spawner.test/ann-dev/',
    '*',
    '/ann-dev\\x',
    '\\ann-dev/',
    '/ann-dev/#x',
    '/ann-dev/100%',
    '/ann-dev/%zz',
    '/ann-dev/%00',
  ]) {
    const method = target === '*' ? 'OPTIONS' : 'GET'
    const answer = await exchange(port, requestHead(`${method} ${target} HTTP/1.1`))
    assert.match(answer, /^HTTP\/1\.1 400 /, target)
  }
})
