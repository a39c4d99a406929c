import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { AttackInstallation } from '@berth/cli/attack/attack-installation.ts'
import { readLinks, slowOthers } from '@berth/cli/attack/platform-attempts.ts'

/** What `berth doctor attack` reports of a platform that lacks a protection; attack.test.ts has the whole attack on one that has them. */

const { signal } = new AbortController()

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const sandbox = { 'content-security-policy': "default-src 'none'; sandbox" }

test('a page that is answered at the address of a link is reported, and so is a refusal without a sandbox', async (t) => {
  const pagesSeen = await serve(t, ({ url = '' }, response) =>
    response.writeHead(url.startsWith('/api/') ? 400 : 200, url.startsWith('/api/') ? sandbox : {}).end(),
  )
  const { got } = await readLinks({ url: pagesSeen }, signal)
  assert.equal(got[0]?.level, 'critical')
  assert.match(got[0]?.what ?? '', /\(\/verify-login, \/verify-signup, \/archive, \/groups\)/)

  const refusalsSeen = await serve(t, ({ url = '' }, response) =>
    url.startsWith('/api/')
      ? response.writeHead(400, { 'content-security-policy': "default-src 'none'" }).end()
      : response.writeHead(303, { location: '/page' }).end(),
  )
  const refusals = await readLinks({ url: refusalsSeen }, signal)
  assert.match(refusals.got[0]?.what ?? '', /\(\/api\/auth\/verify-login, \/api\/auth\/verify-signup\)/)

  const movesIt = await serve(t, ({ url = '' }, response) =>
    response.writeHead(303, { location: `/elsewhere${url}` }).end(),
  )
  assert.equal((await readLinks({ url: movesIt }, signal)).got.length, 1, 'a redirect that keeps the secret')

  const isSafe = await serve(t, ({ url = '', headers }, response) => {
    assert.deepEqual([headers['sec-fetch-mode'], headers['sec-fetch-dest']], ['navigate', 'document'])
    if (url.startsWith('/api/')) response.writeHead(400, sandbox).end()
    else response.writeHead(303, { location: url.split('?')[0] }).end()
  })
  const { got: nothing, tried } = await readLinks({ url: isSafe }, signal)
  assert.deepEqual(nothing, [])
  assert.equal(tried, '4 pages and 2 refusals with a secret in the address')
})

test('a platform on which small pieces hold others up is reported with both times', async (t) => {
  const attackOn = async (millisecondsOfSmall: number) => {
    const url = await serve(t, ({ url: target = '' }, response) => {
      const size = new URL(target, 'http://here').searchParams.get('size')
      if (size === null) return void response.end('page')
      response.write('a')
      if (size !== '1') return
      const timer = setInterval(() => {
        for (const end = performance.now() + millisecondsOfSmall; performance.now() < end;);
      }, 1)
      response.on('close', () => clearInterval(timer))
    })
    const fetchPage = async (target: string) => fetch(`${url}${target}`)
    const user = (prefix: string) => ({ token: 'token', prefix })
    const scene = { url, fetch: fetchPage, attacker: user('/mallory-attack'), victim: user('/alice-attack') }
    return slowOthers(scene as Pick<AttackInstallation, 'url' | 'fetch' | 'attacker' | 'victim'>, signal)
  }
  const weak = await attackOn(200)
  assert.equal(weak.got[0]?.level, 'warning')
  assert.match(weak.got[0]?.what ?? '', /: \d{3,} ms beside chunks of 1 B, \d+ ms beside 64 KiB\.$/)
  assert.deepEqual((await attackOn(0)).got, [])
})
