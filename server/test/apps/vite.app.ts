import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rawCall } from '#test/support/raw-request.ts'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate } from './support/catalogue.ts'
import { installPackages } from './support/install-npm-packages.ts'
import { runApp, shownTemplate, takePicture } from './support/run-app.ts'

const shown = shownTemplate('vite')
const isolating = { ...(shown.env as object), ISOLATED: '1' }
const app = await runApp({ after }, await appImage('vite', (folder) => installPackages(folder)), {
  vite: shown,
  stripped: { ...shown, strip_prefix: true },
  isolated: { ...shown, env: isolating, allow_headers: ['cross-origin-opener-policy'] },
  confined: { ...shown, env: isolating },
  // With the home of this image, where its project is.
  catalogue: { ...catalogueTemplate('vite'), home: '/home/berth', env: { HOME: '/home/berth' } },
  bare: { ...shown, strip_prefix: true, command: ['node_modules/.bin/vite', '--host', '0.0.0.0', '--port', '5173'] },
})
const { page } = app
const vite = await app.open('vite')
const heading = (text: string) => page.getByRole('heading', { name: text }).waitFor()
const edit = (script: string, file: string) => vite.shell(`cd /home/berth/project && sed -i '${script}' ${file}`)

test('the page, its modules and its pictures come from below the prefix', async () => {
  await heading('First words')
  for (const id of ['imported', 'public'])
    assert.ok(await page.evaluate(`document.getElementById('${id}').naturalWidth > 0`), `the ${id} picture is seen`)
  assert.deepEqual(vite.traffic.outside, [])
  assert.deepEqual(vite.traffic.failed, [])
})

test('the socket of hot reload is open, on the same address as the page', async () => {
  const [socket, ...others] = vite.traffic.sockets
  assert.deepEqual(others, [])
  assert.deepEqual([socket?.path, socket?.isOpen], [`${vite.prefix}/`, true])
})

test('editing a component shows the new words without a reload, and keeps what the page remembers', async () => {
  await page.getByRole('button', { name: 'Pressed 0' }).click()
  await page.evaluate('window.wasNotReloaded = true')
  await edit('s/First words/Second words/', 'src/app.jsx')
  await heading('Second words')
  await page.getByRole('button', { name: 'Pressed 1' }).waitFor()
  assert.equal(await page.evaluate('window.wasNotReloaded'), true)
  await takePicture(page, 'vite')
})

test('editing a style sheet shows at once', async () => {
  await edit('s/0, 0, 128/200, 0, 0/', 'src/style.css')
  await page.waitForFunction(`getComputedStyle(document.querySelector('h1')).color === 'rgb(200, 0, 0)'`)
  assert.equal(await page.evaluate('window.wasNotReloaded'), true)
})

test('a mistake is shown over the page and goes when it is mended', async () => {
  await edit('s/<main>/<main/', 'src/app.jsx')
  await page.locator('vite-error-overlay').waitFor()
  await takePicture(page, 'vite-mistake')
  await edit('s/<main$/<main>/', 'src/app.jsx')
  await page.locator('vite-error-overlay').waitFor({ state: 'detached' })
})

test('when Vite restarts for a changed configuration, the page finds it again by itself', async () => {
  await edit('s/plugins/define: { "globalThis.epoch": 2 }, plugins/', 'vite.config.js')
  await page.waitForFunction('window.wasNotReloaded === undefined')
  await heading('Second words')
  assert.equal(vite.traffic.sockets.filter(({ isOpen }) => isOpen).length, 1)
})

test('nothing left the prefix in all that time', () => {
  assert.deepEqual(vite.traffic.outside, [])
})

test('stopped, it wakes when its page is opened', async () => {
  await vite.stop()
  await page.goto(vite.home)
  await heading('Second words')
})

test('a page that wants to be cross-origin isolated, for threads in WebAssembly, needs one header allowed', async () => {
  await app.open('isolated')
  assert.equal(await page.evaluate('crossOriginIsolated'), true)
  await app.open('confined')
  assert.equal(await page.evaluate('crossOriginIsolated'), false)
})

test('Vite answers under the hosts that it was told, and refuses others', async () => {
  const ask = (host: string) =>
    rawCall(app.berth, 'GET', `${vite.prefix}/`, { host, authorization: `Bearer ${app.ann.token}` })
  assert.equal((await ask('spawner.example.org')).status, 200)
  assert.equal((await ask('spawner.example.net')).status, 403)
})

test('strip_prefix: false is needed: without the prefix Vite sends the browser to the prefix, for ever', async () => {
  await assert.rejects(app.open('stripped'), /ERR_TOO_MANY_REDIRECTS/)
})

test('strip_prefix: true without a base does not help: Vite asks for its modules at the root', async () => {
  const { traffic } = await app.open('bare')
  assert.ok(traffic.outside.includes('GET /@vite/client'))
  assert.ok(traffic.outside.includes('GET /src/main.jsx'))
})

test('the template of the catalogue finds the project, and takes the host that Vite answers from Berth', async () => {
  const { traffic, prefix } = await app.open('catalogue')
  await page.getByRole('button', { name: /Pressed/ }).waitFor()
  assert.deepEqual(traffic.outside, [])
  assert.deepEqual(traffic.failed, [])
  assert.ok(traffic.sockets.some(({ path, isOpen }) => path === `${prefix}/` && isOpen))
})
