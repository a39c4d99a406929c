import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeKeys, startApp } from '../../testing/app.js'

/**
 * @param {string} url
 * @param {string} method
 * @param {string} path with query
 * @param {RequestInit} [options]
 */
async function ask(url, method, path, options = {}) {
  const response = await fetch(url + path, { method, ...options })
  return { status: response.status, body: /** @type {any} */ (await response.json()) }
}

test('a file is created, read, changed, renamed and deleted', async (t) => {
  const { url, home } = await startApp(t)
  const file = '/api/file?path=notes/%C3%BCber%20uns.txt'
  assert.equal((await ask(url, 'POST', '/api/folder?path=notes')).status, 201)
  const made = await ask(url, 'PUT', file, { body: 'ahoy ⚓', headers: { 'if-none-match': '*' } })
  assert.equal(made.status, 201)
  const read = await ask(url, 'GET', file)
  assert.equal(read.body.content, 'ahoy ⚓')
  const changed = await ask(url, 'PUT', file, { body: 'changed', headers: { 'if-match': `"${read.body.version}"` } })
  assert.equal(changed.status, 200)
  assert.equal(readFileSync(join(home, 'notes/über uns.txt'), 'utf8'), 'changed')
  const command = JSON.stringify({ from: 'notes/über uns.txt', to: 'about.txt' })
  assert.equal((await ask(url, 'POST', '/api/move', { body: command })).status, 200)
  const { body } = await ask(url, 'GET', '/api/files')
  const seen = body.entries.map((/** @type {any} */ { name, kind }) => `${kind} ${name}`)
  assert.deepEqual(seen, ['folder notes', 'file about.txt'])
  assert.equal((await ask(url, 'DELETE', '/api/file?path=notes')).status, 200)
  assert.equal((await ask(url, 'GET', file)).status, 404)
})

test("saving over another user's change is refused, and their text stays", async (t) => {
  const { url, home } = await startApp(t)
  await ask(url, 'PUT', '/api/file?path=a.txt', { body: 'first' })
  const { body } = await ask(url, 'GET', '/api/file?path=a.txt')
  writeFileSync(join(home, 'a.txt'), 'theirs, longer')
  const refused = await ask(url, 'PUT', '/api/file?path=a.txt', {
    body: 'mine',
    headers: { 'if-match': `"${body.version}"` },
  })
  assert.equal(refused.status, 409)
  assert.match(refused.body.error, /changed/)
  assert.equal(readFileSync(join(home, 'a.txt'), 'utf8'), 'theirs, longer')
})

test('creating or moving never replaces an existing file', async (t) => {
  const { url, home } = await startApp(t)
  writeFileSync(join(home, 'a.txt'), 'a')
  writeFileSync(join(home, 'b.txt'), 'b')
  assert.equal(
    (await ask(url, 'PUT', '/api/file?path=a.txt', { body: 'x', headers: { 'if-none-match': '*' } })).status,
    409,
  )
  assert.equal((await ask(url, 'POST', '/api/move', { body: '{"from":"a.txt","to":"b.txt"}' })).status, 409)
  assert.equal((await ask(url, 'POST', '/api/folder?path=a.txt')).status, 409)
  assert.deepEqual(
    ['a.txt', 'b.txt'].map((name) => readFileSync(join(home, name), 'utf8')),
    ['a', 'b'],
  )
})

test('a file that the editor cannot show is refused with a reason', async (t) => {
  const { url, home } = await startApp(t)
  writeFileSync(join(home, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]))
  writeFileSync(join(home, 'long.log'), 'x'.repeat(5_000_001))
  assert.equal((await ask(url, 'GET', '/api/file?path=picture.png')).status, 415)
  assert.equal((await ask(url, 'GET', '/api/file?path=long.log')).status, 413)
  assert.equal((await ask(url, 'GET', '/api/file?path=.')).status, 409)
  assert.equal((await ask(url, 'GET', '/api/file?path=../../etc/passwd')).status, 403)
  assert.equal((await ask(url, 'GET', '/api/file')).status, 400)
  assert.equal((await ask(url, 'POST', '/api/move', { body: '{"from":' })).status, 400)
})

test("a page of another site cannot change files through a visitor's browser", async (t) => {
  const { url, home, port } = await startApp(t)
  writeFileSync(join(home, 'a.txt'), 'a')
  /** @type {Record<string, string>[]} */
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://127.0.0.1:${port}`, 'x-forwarded-host': 'spawner.example.org' },
  ]
  for (const headers of foreign) {
    assert.equal((await ask(url, 'PUT', '/api/file?path=a.txt', { body: 'x', headers })).status, 403)
    assert.equal((await ask(url, 'DELETE', '/api/file?path=a.txt', { headers })).status, 403)
  }
  assert.equal(readFileSync(join(home, 'a.txt'), 'utf8'), 'a')
})

test("the workspace's own page may change files, directly and behind a gateway", async (t) => {
  const { url, port } = await startApp(t)
  /** @type {Record<string, string>[]} */
  const own = [
    { origin: `http://127.0.0.1:${port}` },
    { origin: 'https://spawner.example.org', 'x-forwarded-host': 'spawner.example.org' },
    { origin: 'https://spawner.example.org', 'x-forwarded-host': 'spawner.example.org:443' },
  ]
  for (const headers of own) {
    assert.equal((await ask(url, 'PUT', '/api/file?path=a.txt', { body: 'x', headers })).status, 200)
  }
})

test("with Berth's keys, files are for the owner with a token only", async (t) => {
  const { jwks, sign } = await makeKeys()
  const { url } = await startApp(t, { env: { BERTH_JWKS: jwks, BERTH_EMAIL: 'ann@example.org' } })
  const authorization = `Bearer ${await sign()}`
  const as = (/** @type {string} */ email) => ({ headers: { authorization, 'x-berth-user': email } })
  assert.equal((await ask(url, 'GET', '/api/files')).status, 401)
  assert.equal((await ask(url, 'GET', '/api/files', as('bob@example.org'))).status, 403)
  assert.equal((await ask(url, 'GET', '/api/files', as('ann@example.org'))).status, 200)
  // An anonymous request of a public container, with a token of another container.
  assert.equal((await ask(url, 'GET', '/api/files', { headers: { authorization } })).status, 403)
  const ownerless = await startApp(t, { env: { BERTH_JWKS: jwks } })
  assert.equal((await ask(ownerless.url, 'GET', '/api/files', as(''))).status, 403)
})

test('a token of another container is refused, even for the owner', async (t) => {
  const { jwks, sign } = await makeKeys()
  const env = { BERTH_JWKS: jwks, BERTH_EMAIL: 'ann@example.org', BASE_PATH: '/ann-dev' }
  const { url } = await startApp(t, { env })
  const statusFor = async (/** @type {unknown} */ aud) => {
    const headers = { authorization: `Bearer ${await sign({ aud })}`, 'x-berth-user': 'ann@example.org' }
    return (await ask(url, 'GET', '/api/files', { headers })).status
  }
  assert.equal(await statusFor('/ann-dev'), 200)
  for (const aud of ['/eve-dev', '/ann-dev2', 'container', '', ['/ann-dev', '/eve-dev']]) {
    assert.equal(await statusFor(aud), 401, JSON.stringify(aud))
  }
})
