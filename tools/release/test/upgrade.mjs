/**
 * `npm run test:upgrade`: an installation of 0.9.0 with a running container, an open stream, an open WebSocket and links that were
 * not used is upgraded to the tarball in `dist/`, then to a patch release of the same protocol, then goes back. Needs a Docker
 * Engine with the demo images. Its last result is in docs/how-to/upgrade.md.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { createInstallation } from './installation.mjs'
import { oldTarball, oldVersion } from './old-release.mjs'
import { postgresStore, sqliteStore } from './test-stores.mjs'

/** @import { TestStore } from './test-stores.mjs' */

const dist = resolve(import.meta.dirname, '../../../dist')
const tarball = readdirSync(dist).find((name) => name.endsWith('-linux-x64.tar.gz'))
if (tarball === undefined) throw new Error('dist/ has no tarball: npm run release')

/** In ms: a start on two cores with nothing else to do. Limits grow with that of the machine at hand. */
const usualStart = 2_500

test('from 0.9.0 to this version, to a patch release, and back', { timeout: 400_000 }, (t) => goThere(t, sqliteStore))

test('the same with PostgreSQL', { timeout: 400_000 }, async (t) => {
  const store = await postgresStore()
  try {
    await goThere(t, store)
  } finally {
    // Hooks run in this order, and the end of the installation needs its store.
    t.after(() => store.stop())
  }
})

/** @param {import('node:test').TestContext} t @param {TestStore} store */
async function goThere(t, store) {
  const installed = await createInstallation(t, store)
  installed.unpack(oldTarball(), oldVersion)
  for (const name of ['new', 'patch']) installed.unpack(join(dist, String(tarball)), name)
  const { base } = installed
  const as = (/** @type {string} */ token) => ({ headers: { authorization: `Bearer ${token}` } })
  const statusOf = async (/** @type {string} */ path, /** @type {string} */ token) =>
    (await fetch(`${base}${path}`, as(token)).catch(() => ({ status: 0 }))).status
  const container = () =>
    execFileSync('docker', ['ps', '--no-trunc', '--format', '{{.ID}} {{.Names}}'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`${installation}-ann-dev`))
  let installation = ''
  let token = ''
  let slowness = 1
  /** @type {string[]} */
  let before = []
  const links = { login: '', signup: '' }

  await t.test('0.9.0 runs, with a container and links that are not used', async (t) => {
    installed.choose(oldVersion)
    installed.start()
    const job = await installed.doMainJob('ann@x.org', 'signup')
    token = job.token
    slowness = Math.max(1, job.ready / usualStart)
    t.diagnostic(`${oldVersion} answers ${job.ready} ms after its start`)
    installation = await installed.installation()
    links.login = await installed.link('login', 'ann@x.org')
    links.signup = await installed.link('signup', 'bob@x.org')
    before = container()
    assert.equal(before.length, 1)
  })

  await t.test('the restart into this version loses nothing', async (t) => {
    installed.warmUp('new')
    const { seen } = await installed.observe(token, '/ann-dev/', 10 + 5 * slowness)
    const begun = performance.now()
    await installed.stop()
    const stopped = Math.round(performance.now() - begun)
    installed.choose('new')
    installed.start()
    const { apiGap, containerGap } = await seen
    t.diagnostic(`the stop of ${oldVersion} is ${stopped} ms of it`)
    t.diagnostic(`${oldVersion} to this version, by restart: API away ${apiGap} ms, containers ${containerGap} ms`)
    await installed.until('the session goes on', async () => (await statusOf('/api/user/me', token)) === 200)
    assert.deepEqual(container(), before, 'the same container runs')
    for (const [purpose, link] of Object.entries(links))
      assert.equal(
        (await fetch(`${base}/api/auth/verify-${purpose}?token=${link}`)).status,
        200,
        `the ${purpose} link works`,
      )
    assert.match(installed.berth('audit', 'verify'), /./)
    assert.ok(apiGap < 4_000 * slowness, `the API was away for ${apiGap} ms`)
  })

  await t.test('the reload into a patch release keeps stream and WebSocket', async (t) => {
    const gateway = installed.gatewayPid()
    const { seen } = await installed.observe(token, '/ann-dev/', 10 + 5 * slowness)
    installed.choose('patch')
    installed.reload()
    const { apiGap, containerGap, isStreamOpen, isSocketOpen } = await seen
    t.diagnostic(`this version to a patch release, by reload: API away ${apiGap} ms, containers ${containerGap} ms`)
    assert.ok(isStreamOpen && isSocketOpen)
    assert.equal(installed.gatewayPid(), gateway)
    assert.match(programOf(gateway), /^\S+\/patch\/node /)
    assert.ok(apiGap < 2_000 * slowness, `the API was away for ${apiGap} ms`)
    assert.ok(containerGap < 1_000 * slowness, `containers were away for ${containerGap} ms`)
    assert.deepEqual(container(), before)
  })

  await t.test('back to 0.9.0, on the copy of its store where that was changed', async (t) => {
    await installed.stop()
    installed.choose(oldVersion)
    const hasCopy = await store.hasCopy(installed.dataDir)
    if (hasCopy) {
      const refused = installed.start()
      const [code] = await once(refused, 'exit')
      assert.equal(code, 1, 'the older program does not start on the newer store')
      await store.goBack(installed.dataDir)
    }
    t.diagnostic(hasCopy ? 'the store was put back' : 'this version did not change the store')
    const start = performance.now()
    installed.start()
    await installed.until('the API of 0.9.0', async () => (await statusOf('/api/user/me', token)) === 200)
    t.diagnostic(`${oldVersion} answers ${Math.round(performance.now() - start)} ms after its start`)
    await installed
      .until('the container', async () => (await statusOf('/ann-dev/', token)) === 200)
      .catch(async (error) => {
        const answer = await fetch(`${base}/ann-dev/`, as(token))
        const words = `${answer.status} ${(await answer.text()).slice(0, 500)}; ${container()}, before ${before}`
        throw new Error(`the container was answered with ${words}`, { cause: error })
      })
    assert.deepEqual(container(), before, 'the same container runs')
  })
}

/** Command line and working program of the API process of a gateway process. @param {number} gateway */
function programOf(gateway) {
  const [child = ''] = readFileSync(`/proc/${gateway}/task/${gateway}/children`, 'utf8').split(' ')
  return `${readlinkSync(`/proc/${child}/exe`)} ${readFileSync(`/proc/${child}/cmdline`, 'utf8').replaceAll('\0', ' ')}`
}
