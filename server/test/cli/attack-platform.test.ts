// Part of npm run test:more: what the attack reports of platforms that lack a protection; attack.test.ts has the whole attack on one that has them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttackInstallation } from '@berth/cli/attack/attack-installation.ts'
import type { RequestOptions } from '@berth/cli/try/trial-installation.ts'
import { fixSession, readLinks, slowApi, slowOthers } from '@berth/cli/attack/platform-attempts.ts'
import { openPorts, useSsh } from '@berth/cli/attack/ssh-attempts.ts'
import ssh2 from 'ssh2'
import type { Config } from '#/config/config.ts'
import type { RunningContainer } from '#/engines/trial-engine.ts'
import { hostKeyFrom } from '#/ssh/host-key.ts'

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

test('ports of another user that answer are reported', async (t) => {
  const attackOn = async (status: number) => {
    const url = await serve(t, (_, response) => response.writeHead(status).end())
    const user = (prefix: string) => ({ token: 'token', prefix })
    const scene = { attacker: user('/mallory-attack'), victim: user('/alice-attack') }
    return openPorts({ ...scene, fetch: async (target) => fetch(`${url}${target}`) }, signal)
  }
  for (const status of [200, 502])
    assert.match(
      (await attackOn(status)).got[0]?.what ?? '',
      /\(\/alice-attack:8080\/order, \/alice-attack:3000\/order\)/,
    )
  for (const status of [401, 403, 404]) assert.deepEqual((await attackOn(status)).got, [])
})

test('an SSH server that lets everyone in, connects with everything and listens is reported', async (t) => {
  const { privateText } = hostKeyFrom(Buffer.alloc(32, 1))
  const attackOn = async (isWeak: boolean) => {
    const server = new ssh2.Server({ hostKeys: [privateText] }, (client) => {
      client.on('error', () => undefined)
      client.on('authentication', (context) => {
        if (isWeak || context.username === 'mallory-attack') context.accept()
        else context.reject()
      })
      client.on('tcpip', (accept, reject) => void (isWeak ? accept() : reject()))
      client.on('request', (accept, reject) => void (isWeak ? accept?.(4_711) : reject?.()))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const user = (prefix: string) => ({ token: 'token', prefix })
    const scene = { attacker: user('/mallory-attack'), victim: user('/alice-attack') }
    const config = { sshListen: { host: '127.0.0.1', port, text: '' } } as Config
    const answer = async () => Response.json({ port })
    const neighbours = async () => [{ address: '10.0.0.9', port: 8080 } as RunningContainer]
    return useSsh({ ...scene, config, fetch: answer, neighbours }, signal)
  }
  const words = (await attackOn(true)).got.map(({ what }) => what).join('\n')
  assert.match(words, /^Its key opens SSH sessions in the container of another user\.$/m)
  assert.match(words, /\(10\.0\.0\.9:8080, alice-attack:8080, 169\.254\.169\.254:80\)/)
  assert.match(words, /^SSH lets it listen on this machine\.$/m)
  assert.deepEqual((await attackOn(false)).got, [])
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

test('a platform at which a token in a cookie counts by itself in a browser is reported, page or API', async () => {
  const attackOn = async (open: RegExp, scheme = 'https') => {
    const attacker = { token: 'token', prefix: '/mallory-attack' }
    const answer = async (target: string, token: string | null, { headers = {} }: RequestOptions = {}) => {
      assert.deepEqual([token, headers['sec-fetch-site']], ['token', 'same-site'])
      return new Response('', { status: open.test(target) ? 200 : 401 })
    }
    return fixSession({ fetch: answer, attacker, config: { scheme } as AttackInstallation['config'] })
  }
  assert.match((await attackOn(/./)).got[0]?.what ?? '', /\(\/api\/user\/me, \/mallory-attack\/page\)/)
  const pageAlone = (await attackOn(/page/)).got[0]
  assert.deepEqual([pageAlone?.level, /\(\/mallory-attack\/page\)/.test(pageAlone?.what ?? '')], ['critical', true])
  assert.deepEqual((await attackOn(/^$/)).got, [])
  assert.match((await attackOn(/./, 'http')).tried, /^not without https/)
})

test('a platform that measures a home while others wait is reported with both times, and the file goes', async () => {
  const attackOn = async (millisecondsOfList: number) => {
    const orders: string[] = []
    let free = Promise.resolve()
    const user = (prefix: string) => ({ token: prefix, prefix })
    const scene = {
      attacker: user('/mallory-attack'),
      victim: user('/alice-attack'),
      template: { type: 'attack', home: '/home' },
      order: async ({ verb }: { verb: string }) => (orders.push(verb), { isMade: true }),
      // Each request waits for the lists before.
      fetch: (target: string) => {
        if (target.includes('/folders/')) free = free.then(() => sleep(millisecondsOfList))
        return free.then(() => sleep(1, new Response('')))
      },
    }
    const outcome = await slowApi(scene as unknown as Parameters<typeof slowApi>[0], signal)
    assert.deepEqual(orders, ['sparse', 'remove'])
    return outcome
  }
  const weak = await attackOn(60)
  assert.equal(weak.got[0]?.level, 'warning')
  assert.match(weak.got[0]?.what ?? '', /: \d{3,} ms beside lists of its home, \d+ ms alone\.$/)
  assert.deepEqual((await attackOn(0)).got, [])
})
