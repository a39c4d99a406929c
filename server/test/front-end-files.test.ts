import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { request, type IncomingHttpHeaders } from 'node:http'
import path from 'node:path'
import { after, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startEnginelessBerth, tokenIn } from '#test/support/berth-without-engine.ts'

/**
 * How the files of the built front end travel. A review found 371 KB of script sent uncompressed in spite of
 * `Accept-Encoding: gzip, br`: at 50 kB/s the dashboard appeared after 9.3 s.
 */
const webDir = path.resolve(import.meta.dirname, '../../web/dist')
const assets = path.join(webDir, 'assets')
const berth = await startEnginelessBerth({ after }, { webDir })
const originals = readdirSync(assets).filter((name) => !/\.(br|gz)$/.test(name))
const script = originals.find((name) => /^index-.*\.js$/.test(name)) ?? ''
const content = (name: string) => readFileSync(path.join(assets, name))
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** The bytes on the wire: `fetch` would decode them. */
function get(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const asked = request(berth.url + target, { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      )
    })
    asked.on('error', reject).end()
  })
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const
const etags = new Set<string | undefined>()

for (const [accepted, encoding] of [
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['gzip;q=1, br;q=0.1', 'gzip'],
] as const) {
  test(`who accepts "${accepted}" gets scripts and styles as ${encoding}`, async () => {
    // Smaller ones have no variant, see below.
    for (const name of originals.filter((each) => /\.(js|css)$/.test(each) && content(each).length > 1_024)) {
      const { status, headers, body } = await get(`/assets/${name}`, { 'accept-encoding': accepted })
      assert.equal(status, 200)
      assert.equal(headers['content-encoding'], encoding)
      assert.equal(headers['content-length'], String(body.length))
      assert.match(headers.vary ?? '', /accept-encoding/i)
      assert.match(
        headers['content-type'] ?? '',
        name.endsWith('.js') ? /^(text|application)\/javascript/ : /^text\/css/,
      )
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      // The dictionary of a small one is small, too.
      const share = content(name).length < 2_048 ? 0.6 : 0.5
      assert.ok(body.length < content(name).length * share, `${name}: ${body.length} of ${content(name).length} bytes`)
      assert.equal(hash(decoders[encoding](body)), hash(content(name)))
    }
  })
}

for (const accepted of [undefined, 'identity', 'deflate', 'br;q=0', '']) {
  test(`who accepts ${accepted === undefined ? 'nothing in particular' : `"${accepted}"`} gets files as they are`, async () => {
    const { status, headers, body } = await get(
      `/assets/${script}`,
      accepted === undefined ? {} : { 'accept-encoding': accepted },
    )
    assert.equal(status, 200)
    assert.equal(headers['content-encoding'], undefined)
    assert.match(headers.vary ?? '', /accept-encoding/i, 'a cache must not give this to others')
    assert.equal(hash(body), hash(content(script)))
  })
}

test('each variant has a validator of its own, and HEAD says the same as GET', async () => {
  for (const accepted of ['br', 'gzip', 'identity']) {
    const asked = { 'accept-encoding': accepted }
    const { headers } = await get(`/assets/${script}`, asked)
    etags.add(headers.etag)
    const head = await get(`/assets/${script}`, asked, 'HEAD')
    for (const name of ['etag', 'content-length', 'content-encoding', 'content-type', 'vary'])
      assert.equal(head.headers[name], headers[name], name)
    assert.equal(head.body.length, 0)
    const again = await get(`/assets/${script}`, { ...asked, 'if-none-match': headers.etag ?? '' })
    assert.equal(again.status, 304)
    assert.equal(again.headers.etag, headers.etag)
    assert.match(again.headers.vary ?? '', /accept-encoding/i)
  }
  assert.equal(etags.size, 3)
})

test('a range is one of the variant that was chosen', async () => {
  const whole = await get(`/assets/${script}`, { 'accept-encoding': 'br' })
  const part = await get(`/assets/${script}`, { 'accept-encoding': 'br', range: 'bytes=100-199' })
  assert.equal(part.status, 206)
  assert.equal(part.headers['content-range'], `bytes 100-199/${whole.body.length}`)
  assert.deepEqual(part.body, whole.body.subarray(100, 200))
  assert.equal((await get(`/assets/${script}`, { range: 'bytes=100-199' }, 'HEAD')).status, 200, 'RFC 9110, 14.2')
})

test('a part is of the bytes that "If-Range" names, and otherwise the whole is sent', async () => {
  const asked = { 'accept-encoding': 'br', range: 'bytes=100-199' }
  const { headers, body } = await get(`/assets/${script}`, { 'accept-encoding': 'br' })
  const etag = headers.etag ?? ''
  const same = await get(`/assets/${script}`, { ...asked, 'if-range': etag })
  assert.deepEqual([same.status, same.body], [206, body.subarray(100, 200)])
  const ofAnother = await get(`/assets/${script}`, { ...asked, 'accept-encoding': 'gzip', 'if-range': etag })
  assert.equal(ofAnother.status, 200)
  for (const other of ['"another"', `W/${etag}`, new Date().toUTCString()]) {
    const whole = await get(`/assets/${script}`, { ...asked, 'if-range': other })
    assert.deepEqual([whole.status, whole.body.length], [200, body.length], other)
  }
})

test('what is too small to gain by it has no variant, and is served all the same', async () => {
  const icon = originals.find((name) => name.endsWith('.svg')) ?? ''
  const { status, headers, body } = await get(`/assets/${icon}`, { 'accept-encoding': 'br, gzip' })
  assert.equal(status, 200)
  assert.equal(headers['content-encoding'], undefined)
  assert.equal(hash(body), hash(content(icon)))
})

test('documents and API answers, which carry proofs and secrets, are not compressed (BREACH)', async () => {
  // The OpenAPI document has neither, is the same for everyone, and travels compressed.
  for (const target of ['/', '/login', '/api/user/me']) {
    const { headers } = await get(target, { 'accept-encoding': 'br, gzip', accept: 'text/html' })
    assert.equal(headers['content-encoding'], undefined, target)
  }
})

test('a document names the texts of its own language alone, and that of a dashboard its list, so that both come beside the scripts', async () => {
  const page = async (at: string, headers: Record<string, string>) =>
    get(at, { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', ...headers })
  for (const [language, own, other] of [
    ['de', 'german-', 'english-'],
    ['en', 'english-', 'german-'],
  ] as const) {
    const text = (await page('/login', { 'accept-language': language })).body.toString()
    const [, file = ''] = /<link rel="modulepreload" [^>]*href="\/assets\/((?:german|english)-[^"]+)"/.exec(text) ?? []
    assert.ok(file.startsWith(own), file)
    assert.equal((await get(`/assets/${file}`)).status, 200)
    assert.equal(text.includes(`/assets/${other}`), false)
  }
  await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })
  const token = tokenIn(berth.mails.at(-1)!)
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${token}`)
  const cookie = `spawner_token=${body.access_token}`
  const list = '</api/user/containers>; rel=preload; as=fetch; crossorigin=anonymous'
  assert.equal((await page('/', { cookie })).headers.link, list)
  assert.equal((await page('/sessions', { cookie })).headers.link, undefined)
  assert.equal((await page('/', {})).headers.link, undefined)
})

test('the reference of the API has neither, travels compressed, and not at all to a client that has it', async () => {
  const { status, headers, body } = await get('/api/docs', { 'accept-encoding': 'gzip', accept: 'text/html' })
  assert.deepEqual([status, headers['content-encoding']], [200, 'gzip'])
  assert.ok(body.length < 60_000, `${body.length} bytes`)
  const again = await get('/api/docs', { 'accept-encoding': 'gzip', 'if-none-match': headers.etag ?? '' })
  assert.deepEqual([again.status, again.body.length], [304, 0])
})
