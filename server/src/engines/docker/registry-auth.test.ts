import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { EngineClient } from './engine-client.ts'
import { ImagePulls } from './image-pull.ts'
import { registryAuth } from './registry-auth.ts'

/** As Go reads it: base64 with `-` and `_`, padded. */
const decoded = (header = '') =>
  JSON.parse(Buffer.from(header.replaceAll('-', '+').replaceAll('_', '/'), 'base64').toString())

test('credentials go to the registry that the image names, in the alphabet that the engine reads', () => {
  const account = { username: 'lab', password: 'ÿ>?ÿ>?~~' }
  for (const [image, serveraddress] of [
    ['registry.example.org:5000/course/lab:1', 'registry.example.org:5000'],
    ['localhost/lab', 'localhost'],
    ['127.0.0.1:5000/lab', '127.0.0.1:5000'],
    ['docker.io/library/debian', 'https://index.docker.io/v1/'],
    ['jupyter/notebook', 'https://index.docker.io/v1/'],
    ['debian', 'https://index.docker.io/v1/'],
  ] as const) {
    const { 'x-registry-auth': header = '' } = registryAuth(image, account)
    assert.match(header, /^[A-Za-z0-9_-]+={0,2}$/)
    assert.equal(header.length % 4, 0)
    assert.deepEqual(decoded(header), { ...account, serveraddress })
  }
  assert.deepEqual(registryAuth('debian', undefined), {})
})

test('a pull carries the credentials in its header alone, and no other account joins it', async (t) => {
  const asked: { url: string; auth: string | undefined }[] = []
  const engine = createServer(({ url = '', headers }, response) => {
    if (url === '/_ping') return void response.setHeader('api-version', '1.41').end('OK')
    asked.push({ url, auth: headers['x-registry-auth'] as string | undefined })
    setTimeout(() => response.end('{"status":"Status: Downloaded"}\n'), 50)
  }).listen(0, '127.0.0.1')
  t.after(() => engine.close())
  await once(engine, 'listening')
  const lines: unknown[] = []
  const log = { debug: (...line: unknown[]) => void lines.push(line) }
  const client = new EngineClient(`tcp://127.0.0.1:${(engine.address() as AddressInfo).port}`, log)
  const pulls = new ImagePulls(client)
  const credentials = () => ({ username: 'lab', password: 'hunter2' })
  const image = 'registry.example.org/lab:1'
  await Promise.all([pulls.pull(image, { credentials }), pulls.pull(image, { credentials }), pulls.pull(image)])
  const [withAccount, ...others] = asked.filter(({ auth }) => auth !== undefined)
  // A pull is followed by a request that tags the image, which needs no account.
  const pulled = asked.filter(({ url }) => url.includes('/images/create'))
  assert.deepEqual([pulled.length, others.length], [2, 0])
  assert.deepEqual(decoded(withAccount?.auth), {
    ...credentials(),
    serveraddress: 'registry.example.org',
  })
  assert.doesNotMatch(JSON.stringify([asked.map(({ url }) => url), lines]), /hunter2|aHVudGVyMg/)
})
