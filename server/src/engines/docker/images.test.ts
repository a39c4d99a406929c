import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { EngineClient } from './engine-client.ts'
import { ImagePulls, PullMeter, registryAuth, type PullLine } from './images.ts'

/** Lines as Docker 20.10 sends them. */
const line = (status: string, id?: string, current?: number, total?: number): PullLine => ({
  status,
  ...(id === undefined ? {} : { id }),
  progressDetail: current === undefined ? {} : { current, total: total ?? -1 },
})

function progressAfter(...lines: PullLine[]): number[] {
  const meter = new PullMeter()
  for (const each of lines) meter.note(each)
  const { layersDone, layersTotal, bytesDone, bytesTotal } = meter.now()
  return [layersDone, layersTotal, bytesDone, bytesTotal]
}

test('layers and bytes are added up over all layers; what is no layer does not count', () => {
  const beginning = [
    line('Pulling from library/app', 'latest'),
    line('Pulling fs layer', 'a'),
    line('Pulling fs layer', 'b'),
    line('Already exists', 'c'),
    line('Downloading', 'a', 10, 100),
    line('Waiting', 'b'),
  ]
  assert.deepEqual(progressAfter(...beginning), [1, 3, 10, 100])
  const further = [...beginning, line('Downloading', 'b', 5, 50), line('Download complete', 'a')]
  assert.deepEqual(progressAfter(...further), [1, 3, 105, 150])
  const end = [
    ...further,
    line('Extracting', 'a', 3, 100),
    line('Pull complete', 'a'),
    line('Verifying Checksum', 'b'),
    line('Pull complete', 'b'),
    line('Digest: sha256:0123'),
    line('Status: Downloaded newer image for app:latest'),
  ]
  assert.deepEqual(progressAfter(...end), [3, 3, 150, 150])
})

test('a layer that is unpacked has come whole, also one so small that its download was not told', () => {
  assert.deepEqual(progressAfter(line('Extracting', 'a', 1, 300)), [0, 1, 300, 300])
  assert.deepEqual(progressAfter(line('Download complete', 'a')), [0, 1, 0, 0])
})

test('a layer that is tried again begins anew', () => {
  const lines = [line('Downloading', 'a', 80, 100), line('Retrying in 5 seconds', 'a')]
  assert.deepEqual(progressAfter(...lines), [0, 1, 0, 100])
})

test('where the registry does not tell the size, the received bytes are reported', () => {
  assert.deepEqual(progressAfter(line('Downloading', 'a', 80)), [0, 1, 80, 80])
})

/** Reads it as Go does: base64 with `-` and `_`, padded. */
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
