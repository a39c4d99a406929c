import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startBerth, type CallOptions, type Reply } from './support/berth.ts'
import { portsApp } from './support/engine/ports-app.ts'
import { eventually } from './support/engine/runtimes.ts'
import { get } from './support/gateway/raw-client.ts'
import { HostBrowser } from './support/host-browser.ts'

/** Ports of containers with subdomain routing: `{port}--{slug}-{type}.{spawner host}`, through the real whole. */
const berth = await startBerth(
  { after },
  {
    env: {
      CONTAINER_ROUTING: 'subdomain',
      BASE_DOMAIN: 'berth.example',
      CONTAINER_TEMPLATES: JSON.stringify({ dev: { ...portsApp, display_name: 'Development' } }),
    },
  },
)
const ann = await berth.signUp('ann@x.org')
const addressOf = (label: string) => `http://${label}.spawner.berth.example`

/** Asks by any `Host`, which `fetch` does not send. */
async function call(method: string, path: string, { headers = {} }: CallOptions = {}): Promise<Reply> {
  const { status, body, lines } = await get(Number(new URL(berth.url).port), path, { method, headers })
  const pairs = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1),
  ])
  return { status, text: body, headers: new Headers(pairs), body }
}

/** A browser that has Ann's token, or another person's, at the platform. */
function browserOf(token: string): HostBrowser {
  const browser = new HostBrowser({ call })
  const cookie = { name: 'spawner_token', value: token, domain: 'berth.example', path: '/', isHostOnly: false }
  browser.cookies.push(cookie)
  return browser
}
const annBrowser = browserOf(ann.token)

await eventually(async () => {
  const opened = await annBrowser.navigate(`${addressOf('ann-dev')}/open?port=3001&host=127.0.0.1`)
  assert.equal(opened.status, 200)
})

test('a signed-in browser is led to the host of the port, where the app sees the whole path and no prefix', async () => {
  const reply = await annBrowser.navigate(`${addressOf('3001--ann-dev')}/a/b?c=1`)
  assert.equal(reply.status, 200)
  const { port, path, headers } = JSON.parse(reply.text)
  assert.deepEqual([port, path], [3001, '/a/b?c=1'])
  assert.equal(headers['x-forwarded-prefix'], undefined)
  assert.equal(headers['x-forwarded-host'], '3001--ann-dev.spawner.berth.example')
  assert.match(headers.cookie, /^spawner_token=ey/)
  const own = annBrowser.cookies.filter(({ domain }) => domain === '3001--ann-dev.spawner.berth.example')
  assert.deepEqual(
    own.map(({ name, isHostOnly }) => [name, isHostOnly]),
    [['spawner_token', true]],
  )
})

test('the path of the port at the platform leads to its host', async () => {
  const reply = await call('GET', '/ann-dev:3001/x?y', { headers: { host: 'spawner.berth.example' } })
  assert.deepEqual([reply.status, reply.headers.get('location')], [308, `${addressOf('3001--ann-dev')}/x?y`])
})

test('another person is refused there, and a program without a token gets 401', async () => {
  const bob = await berth.signUp('bob@x.org')
  assert.equal((await browserOf(bob.token).navigate(`${addressOf('3001--ann-dev')}/`)).status, 403)
  const host = '3001--ann-dev.spawner.berth.example'
  assert.equal((await call('GET', '/', { headers: { host } })).status, 401)
})

test('labels that are no port’s have no host', async () => {
  for (const label of ['80--ann-dev', '03001--ann-dev', '65536--ann-dev', '3001--ann'])
    assert.equal((await call('GET', '/', { headers: { host: `${label}.spawner.berth.example` } })).status, 404, label)
})

test('where nothing listens, the page asks again at the same address and links what listens', async () => {
  const reply = await annBrowser.navigate(`${addressOf('3999--ann-dev')}/x`)
  assert.equal(reply.status, 502)
  assert.ok(reply.text.includes('<meta http-equiv="refresh" content="3; url=/x">'), reply.text)
  assert.ok(reply.text.includes(`href="${addressOf('3001--ann-dev')}/"`))
})

test('the list has the addresses of the hosts', async () => {
  const { ports } = (await ann.call('GET', '/api/container/ports/dev')).body
  assert.deepEqual(
    ports.map(({ port, url }: { port: number; url: string }) => [port, url]),
    [
      [3001, `${addressOf('3001--ann-dev')}/`],
      [8080, `${addressOf('ann-dev')}/`],
    ],
  )
})
