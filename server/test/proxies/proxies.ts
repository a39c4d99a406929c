import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { after, suite, test } from 'node:test'
import { Agent, request } from 'undici'
import WebSocket from 'ws'
import { ensurePrograms } from '../../../bench/gateway/programs.ts'
import { ask } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { freePort } from '#test/support/free-port.ts'
import { documentedProxies, hosts } from './documented-proxies.ts'
import { transferApp } from './transfer-app.ts'

/**
 * `npm run test:proxies`: real proxies with the configurations that docs/how-to/use-a-reverse-proxy.md prints, in front of a
 * Berth with a real container: sign-in, a WebSocket, uploads and downloads by https. Not part of `npm test`, because it
 * downloads the proxies and moves gigabytes.
 */

/** Bytes of the large upload and the large download. */
const large = 1024 ** 3
/** Address of the client; the proxy itself connects from 127.0.0.1. */
const client = '127.0.0.9'

const template = {
  display_name: 'Transfer',
  image: 'berth-demo-dev:latest',
  port: 8080,
  memory: '256m',
  command: ['node', '-e', transferApp],
}

await ensurePrograms()

for (const proxy of documentedProxies)
  suite(`behind ${proxy.name} as the how-to configures it`, async () => {
    const port = await freePort()
    const origin = `https://${hosts.tried}:${port}`
    const berth = await startBerth(
      { after },
      {
        env: {
          PREFERRED_URL_SCHEME: 'https',
          BASE_DOMAIN: `${hosts.tried}:${port}`,
          SPAWNER_SUBDOMAIN: '',
          TRUSTED_PROXIES: '127.0.0.1',
          CONTAINER_TEMPLATES: JSON.stringify({ dev: template }),
        },
      },
    )
    await proxy.start({ after }, { port, berthPort: berth.app.port })
    await berth.administrator()
    const ann = await berth.signUp('ann@x.org')
    const agent = new Agent({
      localAddress: client,
      connect: { rejectUnauthorized: false, lookup: toThisMachine },
      bodyTimeout: 120_000,
    })
    after(() => agent.destroy())
    const send = (method: 'GET' | 'PUT' | 'POST', path: string, body?: Readable, token = ann.token) =>
      request(`${origin}${path}`, {
        method,
        dispatcher: agent,
        body: body ?? null,
        headers: { authorization: `Bearer ${token}` },
      })

    test('a link signs in, and the session shows the address of the client, not of the proxy', async () => {
      await ask(berth, 'login', 'ann@x.org')
      const signedIn = await send('GET', `/api/auth/verify-login?token=${berth.mail.tokenFor('ann@x.org')}`)
      assert.equal(signedIn.statusCode, 200)
      const cookies = [signedIn.headers['set-cookie']].flat().join('\n')
      assert.match(cookies, /spawner_token=[^\n]*; Secure/)
      const { access_token: token } = (await signedIn.body.json()) as { access_token: string }
      const { sessions } = (await (await send('GET', '/api/user/sessions', undefined, token)).body.json()) as {
        sessions: { is_current: boolean; address: string }[]
      }
      assert.equal(sessions.find(({ is_current }) => is_current)?.address, client)
    })

    test('a container is reached, and its app knows the public address', async () => {
      const headers = (await (await send('GET', '/ann-dev/headers')).body.json()) as Record<string, string>
      assert.equal(headers['x-forwarded-proto'], 'https')
      assert.equal(headers['x-forwarded-host'], `${hosts.tried}:${port}`)
    })

    test('a WebSocket stays open and carries messages in both directions', async (t) => {
      const socket = new WebSocket(`wss://${hosts.tried}:${port}/ann-dev/socket`, {
        rejectUnauthorized: false,
        lookup: toThisMachine,
        headers: { authorization: `Bearer ${ann.token}` },
      })
      t.after(() => socket.terminate())
      await once(socket, 'open')
      for (const text of ['one', 'two']) {
        socket.send(text)
        assert.equal(String((await once(socket, 'message'))[0]), text)
      }
    })

    test('1 GiB is uploaded whole, without a limit of the proxy', { timeout: 300_000 }, async () => {
      const answer = await send('PUT', '/ann-dev/sink', Readable.from(blocks(large)))
      assert.equal(answer.statusCode, 200)
      assert.deepEqual(await answer.body.json(), { bytes: large })
    })

    test('1 GiB is downloaded whole', { timeout: 300_000 }, async () => {
      const { body } = await send('GET', `/ann-dev/source?bytes=${large}`)
      let bytes = 0
      for await (const chunk of body) bytes += (chunk as Buffer).length
      assert.equal(bytes, large)
    })
  })

/** In place of DNS, which does not know the host of the test. Node asks for one address or for all. */
const toThisMachine: LookupFunction = (_, { all }, found) => {
  if (all) found(null, [{ address: '127.0.0.1', family: 4 }])
  else found(null, '127.0.0.1', 4)
}

function* blocks(bytes: number): Generator<Buffer> {
  const block = Buffer.alloc(64 * 1024, 7)
  for (let left = bytes; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length))
}
