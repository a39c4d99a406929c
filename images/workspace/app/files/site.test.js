import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeKeys, startApp, temporaryFolder } from '../../testing/app.js'

const { seed } = await import('./seed-home.js')

/** @import { TestContext } from 'node:test' */

/** @param {TestContext} t @param {Record<string, string>} files @param {Parameters<typeof startApp>[1]} [options] */
async function startSite(t, files, options = {}) {
  const app = await startApp(t, { mode: 'site', ...options })
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(app.home, name, '..'), { recursive: true })
    writeFileSync(join(app.home, name), content)
  }
  return app
}

/** @param {string} html @returns {string[]} */
const addresses = (html) => [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map((match) => match[1] ?? '')

test('files are served with their types, and the browser must not guess others', async (t) => {
  const { url } = await startSite(t, { 'index.html': '<h1>hi</h1>', 'style.css': 'a{}', 'a b/ü.js': '1' })
  for (const [path, type] of [
    ['/', 'text/html; charset=utf-8'],
    ['/style.css', 'text/css; charset=utf-8'],
    ['/a%20b/%C3%BC.js', 'text/javascript; charset=utf-8'],
  ]) {
    const response = await fetch(url + path)
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-type'), type)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  }
})

test('a range of a file can be requested, and an unchanged file is not sent again', async (t) => {
  const { url } = await startSite(t, { 'film.mp4': '0123456789' })
  const part = await fetch(`${url}/film.mp4`, { headers: { range: 'bytes=2-4' } })
  assert.equal(part.status, 206)
  assert.equal(await part.text(), '234')
  assert.equal((await fetch(`${url}/film.mp4`, { headers: { range: 'bytes=20-' } })).status, 416)
  // Without a word of its own about caches, Node's fetch asks for a fresh one.
  const again = await fetch(`${url}/film.mp4`, {
    headers: { 'if-none-match': part.headers.get('etag') ?? '', 'cache-control': 'max-age=0' },
  })
  assert.equal(again.status, 304)
})

test('a folder without an index lists its files, with names as text', async (t) => {
  const { url } = await startSite(t, { 'docs/<img onerror=x>.txt': 'a', 'docs/.hidden': 'b', 'docs/javascript:1': 'c' })
  const html = await (await fetch(`${url}/docs/`)).text()
  assert.ok(!html.includes('<img'), html)
  assert.ok(!html.includes('.hidden'))
  const hrefs = addresses(html)
  assert.ok(hrefs.includes('./javascript%3A1'), hrefs.join(' '))
  assert.ok(hrefs.includes('./%3Cimg%20onerror%3Dx%3E.txt'), hrefs.join(' '))
})

test('a folder redirects to its trailing slash by a relative path, so the prefix stays', async (t) => {
  const { url } = await startSite(t, { 'a b/c/x.txt': 'x' })
  const response = await fetch(`${url}/a%20b/c`, { redirect: 'manual' })
  assert.equal(response.status, 307)
  assert.equal(response.headers.get('location'), './c/')
})

test('nothing outside the home and nothing hidden is served', async (t) => {
  const { url } = await startSite(t, { 'index.html': 'x', '.git/config': 'x', '.env': 'x' })
  for (const path of [
    '/.env',
    '/.git/config',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/%2Eenv',
    '/a%00b',
    '/%zz',
  ]) {
    assert.equal((await fetch(url + path)).status, 404, path)
  }
})

test('a site cannot be changed', async (t) => {
  const { url, home } = await startSite(t, { 'index.html': 'x' })
  for (const [method, path, status] of /** @type {const} */ ([
    ['PUT', '/api/file?path=index.html', 404],
    ['DELETE', '/api/file?path=index.html', 404],
    ['GET', '/api/files', 404],
    ['PUT', '/index.html', 405],
    ['POST', '/', 405],
  ])) {
    assert.equal((await fetch(url + path, { method })).status, status, `${method} ${path}`)
  }
  assert.deepEqual(readdirSync(home), ['index.html'])
})

test("the site's own 404.html is shown for a missing page", async (t) => {
  const { url } = await startSite(t, { '404.html': 'lost at sea' })
  const response = await fetch(`${url}/deep/down`)
  assert.equal(response.status, 404)
  assert.equal(await response.text(), 'lost at sea')
})

test('every address in every page of the app is relative', async (t) => {
  const site = await startSite(t, { 'docs/a.txt': 'a' })
  const workspace = await startApp(t)
  const pages = [
    `${site.url}/docs/`,
    `${site.url}/nowhere/at/all`,
    `${site.url}/_berth/`,
    `${workspace.url}/`,
    `${workspace.url}/view/`,
  ]
  for (const page of pages) {
    const found = addresses(await (await fetch(page)).text())
    assert.ok(found.length > 1, page)
    assert.deepEqual(
      found.filter((address) => /^(\/|[a-z]+:)/i.test(address)),
      [],
      page,
    )
    for (const address of found.filter((one) => one.includes('assets/'))) {
      assert.equal((await fetch(new URL(address, page))).status, 200, `${address} on ${page}`)
    }
  }
})

test('with strip_prefix off, the app works under BASE_PATH', async (t) => {
  const { url } = await startSite(t, { 'a.txt': 'a' }, { env: { BASE_PATH: '/ann-prod' } })
  assert.equal(await (await fetch(`${url}/ann-prod/a.txt`)).text(), 'a')
  assert.equal((await fetch(`${url}/ann-prod/healthz`)).status, 200)
})

test('the request page shows what the gateway sent, with secrets shortened and the environment for the owner only', async (t) => {
  const { jwks, sign } = await makeKeys()
  const { url } = await startSite(
    t,
    {},
    { env: { BERTH_JWKS: jwks, BERTH_EMAIL: 'ann@example.org', BERTH_USER: 'ann', SECRET: 'x' } },
  )
  const token = await sign()
  const view = async (/** @type {Record<string, string>} */ headers) =>
    (await fetch(`${url}/api/request`, { headers })).text()
  const owner = await view({
    cookie: `spawner_token=${token}`,
    'x-berth-user': 'ann@example.org',
    'x-forwarded-prefix': '/ann-prod',
  })
  const { prefix, headers, environment } = JSON.parse(owner)
  assert.equal(prefix, '/ann-prod')
  assert.equal(JSON.parse(owner).berth, null)
  assert.ok(!owner.includes(token.slice(20)))
  assert.ok(
    headers.some(
      (/** @type {any} */ line) =>
        line.name === 'cookie' && line.value.startsWith(`spawner_token=${token.slice(0, 8)}…`),
    ),
  )
  assert.deepEqual(
    environment.find((/** @type {any} */ line) => line.name === 'BERTH_USER'),
    { name: 'BERTH_USER', value: 'ann' },
  )
  assert.ok(!owner.includes('SECRET'))
  for (const stranger of [{}, { cookie: `spawner_token=${token}`, 'x-berth-user': 'bob@example.org' }]) {
    assert.ok(!(await view(stranger)).includes('ann@example.org'))
  }
})

test('an empty home gets the example files, a used one is unchanged', async (t) => {
  const [empty, used, examples] = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)]
  writeFileSync(join(examples, 'README.md'), 'welcome')
  writeFileSync(join(used, 'mine'), 'mine')
  await seed(empty, examples)
  await seed(used, examples)
  assert.deepEqual(readdirSync(empty), ['README.md'])
  assert.deepEqual(readdirSync(used), ['mine'])
})

test('with a host of its own it leads back by the path that is Berth’s there', async (t) => {
  const { url } = await startSite(t, {}, { env: { BERTH_AUDIENCE: '/ann-prod' } })
  const view = await (await fetch(`${url}/api/request`)).json()
  assert.deepEqual([view.prefix, view.berth], [null, '/.berth/'])
})
