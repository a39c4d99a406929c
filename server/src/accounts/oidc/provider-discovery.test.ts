import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { providerFetch } from './provider-discovery.ts'

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('a form is sent with its headers, and the answer has status, headers and text', async (t) => {
  let got = ''
  const url = await serve(t, async (request, response) => {
    const body = await text(request)
    got = `${request.method} ${request.headers['content-type']} ${request.headers.authorization} ${body}`
    response.writeHead(401, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] }).end('{"a":1}')
  })
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', authorization: 'Basic x' })
  const body = new URLSearchParams({ code: 'a b' })
  const answer = await providerFetch(url, { method: 'POST', headers, body, redirect: 'manual' })
  assert.equal(got, 'POST application/x-www-form-urlencoded Basic x code=a+b')
  assert.deepEqual([answer.status, answer.headers.getSetCookie(), await answer.json()], [401, ['a=1', 'b=2'], { a: 1 }])
})

/**
 * An answer with more than five codings ended the API process, when its timeout was thrown where nothing could catch
 * it.
 */
test('an answer that is coded, endless or slow rejects, and its signal does no harm later', async (t) => {
  const ask = async (headers: Record<string, string>, isEndless: boolean) => {
    const url = await serve(t, (_request, response) => {
      response.writeHead(200, headers).write('z'.repeat(65_536))
      if (!isEndless) return void response.end()
      const timer = setInterval(() => response.write('z'.repeat(65_536)), 1)
      response.once('close', () => clearInterval(timer))
    })
    return providerFetch(url, { method: 'GET', headers: {}, signal: AbortSignal.timeout(1_500) })
  }
  for (const coding of ['gzip', 'gzip, gzip, gzip, br, br, br', 'br'])
    for (const isEndless of [false, true])
      await assert.rejects(ask({ 'content-encoding': coding }, isEndless), { name: 'TypeError' }, coding)
  await assert.rejects(ask({}, true), /larger than 1048576 bytes/)
  const slow = await serve(t, (_request, response) => void response.writeHead(200).write('{'))
  const asked = providerFetch(slow, { method: 'GET', headers: {}, signal: AbortSignal.timeout(200) })
  await assert.rejects(asked, { name: 'TimeoutError' })
  // An uncaught error within this time fails the test.
  await sleep(1_600)
})
