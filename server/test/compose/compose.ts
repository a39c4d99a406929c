import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import path from 'node:path'
import { after, suite, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import WebSocket from 'ws'
import { pollUntil } from '#test/support/control-plane.ts'
import { timeLimit } from '#test/support/extent.ts'
import { writeComposition, type Composition } from './composition.ts'
import { docker, dockerSays } from './docker.ts'
import { provideImages, removeStandIns } from './images.ts'

/**
 * `npm run test:compose`: deploy/compose with each of its variants, by the Compose of this machine: time from `up` to the
 * sign-up page by https, sign-up with the mail of the mail catcher, the address of the client, a WebSocket. Needs the image of
 * Berth (`BERTH_IMAGE`, or that of the version of package.json). Not part of `npm test`, because it needs Compose and images.
 */

/** Max time from `up` to the sign-up page, in ms, with images that are there. */
const maxStart = 120_000
/** Address of the client; the proxy itself connects from 127.0.0.1. */
const client = '127.0.0.9'
const appImage = 'berth-compose-app:1'
const page = path.resolve(import.meta.dirname, '../../../docs/how-to/run-with-compose.md')

const variants = {
  'Caddy, SQLite': ['compose.trial.yaml'],
  'Caddy, PostgreSQL': ['compose.postgres.yaml', 'compose.trial.yaml'],
  'nginx, PostgreSQL': ['compose.nginx.yaml', 'compose.postgres.yaml', 'compose.trial.yaml'],
}

const berthImage = process.env.BERTH_IMAGE ?? `berth:${process.env.npm_package_version}`
if (dockerSays('images', '--quiet', berthImage) === '')
  throw new Error(
    `there is no image ${berthImage}: npm run release, then docker load --input dist/berth-*-oci-amd64.tar`,
  )
const { variables, standIns } = provideImages()
after(() => removeStandIns())
if (standIns.length > 0) process.stdout.write(`no registry answers; from Debian instead: ${standIns.join(', ')}\n`)
docker(60_000, 'tag', 'berth-demo-dev:latest', appImage)
after(() => docker(60_000, 'rmi', appImage))

for (const [name, files] of Object.entries(variants))
  suite(name, async () => {
    const composition = await writeComposition({ after }, files, { ...variables, BERTH_IMAGE: berthImage }, appImage)
    const { origin, compose } = composition
    const agent = new Agent({ localAddress: client, connect: { rejectUnauthorized: false, lookup: toThisMachine } })
    after(() => agent.destroy())
    const send = (method: 'GET' | 'POST', path: string, { token = '', body }: { token?: string; body?: object } = {}) =>
      request(`${origin}${path}`, {
        method,
        dispatcher: agent,
        body: body === undefined ? null : JSON.stringify(body),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        },
      })
    const openSocket = async (t: TestContext) => {
      const socket = new WebSocket(`wss://${composition.host}:${composition.port}/ann-dev/socket`, {
        rejectUnauthorized: false,
        lookup: toThisMachine,
        headers: { authorization: `Bearer ${token}` },
      })
      t.after(() => socket.terminate())
      await once(socket, 'open')
      return socket
    }
    let token = ''

    test('the sign-up page answers by https within two minutes of "up"', async (t) => {
      const begin = performance.now()
      compose('up', '--detach')
      const isThere = async () => {
        const answer = await send('GET', '/signup').catch(() => undefined)
        const page = await answer?.body.text()
        return answer?.statusCode === 200 && /<html/i.test(page ?? '')
      }
      await pollUntil(isThere, () => compose('logs', '--tail=30'), maxStart)
      const took = performance.now() - begin
      t.diagnostic(`${(took / 1000).toFixed(1)} s from "up" to the sign-up page`)
      assert.ok(took < maxStart)
    })

    test('the API says that the host rules are not set', () => {
      assert.match(compose('logs', '--no-color', 'api'), /Berth sets no rules on this host/)
    })

    test('the link that the mail catcher shows signs in, and the session has the address of the client', async () => {
      assert.equal((await send('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })).statusCode, 200)
      const link = await linkIn(composition)
      assert.equal((await send('GET', `/api/auth/verify-signup?token=${link}`)).statusCode, 200)
      await send('POST', '/api/auth/login', { body: { email: 'ann@x.org' } })
      const answer = await send('GET', `/api/auth/verify-login?token=${await linkIn(composition, link)}`)
      assert.equal(answer.statusCode, 200)
      token = ((await answer.body.json()) as { access_token: string }).access_token
      const { sessions } = (await (await send('GET', '/api/user/sessions', { token })).body.json()) as {
        sessions: { is_current: boolean; address: string }[]
      }
      assert.equal(sessions.find(({ is_current }) => is_current)?.address, client)
    })

    test('a WebSocket to a container stays open and carries messages in both directions', async (t) => {
      const launched = await send('POST', '/api/container/launch/dev', { token })
      assert.ok(launched.statusCode < 300, await launched.body.text())
      const isUp = async () => {
        const { statusCode, body } = await send('GET', '/ann-dev/', { token })
        await body.dump()
        return statusCode === 200
      }
      await pollUntil(isUp, () => compose('logs', '--tail=30'))
      const socket = await openSocket(t)
      for (const text of ['one', 'two']) {
        socket.send(text)
        assert.equal(String((await once(socket, 'message'))[0]), text)
      }
    })

    test('the socket of Docker is in the broker alone, and Berth asks nothing that the broker refuses', () => {
      assert.throws(() => compose('exec', '-T', 'api', 'ls', '/var/run/docker.sock'), /No such file/)
      assert.doesNotMatch(compose('logs', '--no-color', 'engine-broker'), /refused|failed/)
    })

    test('the store is the database that the variant names', () => {
      const files = compose('exec', '-T', 'api', 'ls', '/var/lib/berth')
      assert.equal(/sqlite|\.db/.test(files), name.includes('SQLite'), files)
    })

    if (files.includes('compose.postgres.yaml'))
      test('PostgreSQL asks for a password on its socket', () => {
        const query = ['psql', '--no-password', '--username=berth', '--command=SELECT 1', 'berth']
        assert.throws(() => compose('exec', '-T', 'postgres', ...query), /no password supplied/)
      })

    // The last one: Compose 1.29 finds a container by its number, and that of the new one is not the first.
    test('an upgrade by the commands of the page leaves a WebSocket alone, and the API is away for less than 2 s', async (t) => {
      const socket = await openSocket(t)
      const [, commands = ''] = /```sh\n([^`]*--scale api=2[^`]*)```/.exec(readFileSync(page, 'utf8')) ?? []
      assert.notEqual(commands, '')
      const before = compose('ps', '--quiet', 'api').trim()
      const end = new AbortController()
      const longestGap = watch(() => send('GET', '/api/user/me', { token }), end.signal)
      await composition.run(commands)
      end.abort()
      const gap = await longestGap
      t.diagnostic(`the API was away for ${(gap / 1000).toFixed(1)} s`)
      const after = compose('ps', '--quiet', 'api').trim()
      assert.match(after, /^[0-9a-f]+$/, 'one API is left')
      assert.notEqual(after, before)
      assert.ok(gap < timeLimit(2_000), `${gap} ms`)
      socket.send('still open')
      assert.equal(String((await once(socket, 'message'))[0]), 'still open')
    })
  })

/** @returns the longest time between two answers 200, in ms, once the signal is given */
async function watch(ask: () => ReturnType<typeof request>, signal: AbortSignal): Promise<number> {
  let [last, longest] = [performance.now(), 0]
  while (!signal.aborted) {
    const answer = await ask().catch(() => undefined)
    await answer?.body.dump()
    if (answer?.statusCode === 200) {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
    // A pause between two looks, as a program that polls has it.
    await sleep(30)
  }
  return Math.max(longest, performance.now() - last)
}

/** The token of the newest mail, once one came that does not have this one. */
async function linkIn({ mailPage }: Composition, old = ''): Promise<string> {
  let token = ''
  const isThere = async () => {
    const answer = await request(`${mailPage}/api/v1/message/latest`)
    const mail = await answer.body.text()
    if (answer.statusCode === 200)
      token = /[?&]token=([\w-]+)/.exec((JSON.parse(mail) as { Text: string }).Text)?.[1] ?? ''
    return token !== '' && token !== old
  }
  await pollUntil(isThere, () => 'no mail has arrived')
  return token
}

/** In place of DNS. Node asks for one address or for all. */
const toThisMachine: LookupFunction = (_, { all }, found) => {
  if (all) found(null, [{ address: '127.0.0.1', family: 4 }])
  else found(null, '127.0.0.1', 4)
}
