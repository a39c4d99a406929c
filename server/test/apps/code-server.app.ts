import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate, tryHere } from './support/catalogue.ts'
import { watchIdle } from './support/idle.ts'
import { installCodeServer } from './support/install-npm-packages.ts'
import { runApp, shownTemplate, takePicture } from './support/run-app.ts'

const shown = shownTemplate('code-server')
const image = await appImage('code-server', installCodeServer)
const { idle_probe: idleProbe, files, command } = catalogueTemplate('code-server')
const options = (command as readonly string[]).slice(0, -1)
const app = await runApp(
  { after },
  image,
  {
    'code-server': shown,
    guarded: { ...shown, env: { PASSWORD: 'anchor' }, command: ['--auth', 'password', '/home/coder/project'] },
    whole: { ...shown, strip_prefix: false },
    // Longer than between two heartbeats, which count until the extension runs.
    idle: {
      ...shown,
      idle_probe: idleProbe,
      files,
      command: [...options, '/home/coder/project'],
      idle_timeout: 75,
    },
  },
  // A page that was opened counts for a few seconds, in place of five minutes.
  { pace: { navigation: 3_000 } },
)
const { page } = app
const code = await app.open('code-server')

test('the workbench opens, and everything of our origin comes from below the prefix', async () => {
  await workbenchIsReady()
  assert.deepEqual(code.traffic.outside, [])
  // A part that Microsoft does not give away; the editor does without.
  assert.deepEqual(
    code.traffic.failed.filter((text) => !text.includes('/vsda/rust/web/vsda')),
    [],
  )
})

test('both sockets of the workbench are open: its own, and that of its extensions', async () => {
  await page.waitForTimeout(1_000)
  const open = code.traffic.sockets.filter(({ isOpen }) => isOpen)
  assert.equal(open.length, 2)
  assert.ok(code.traffic.sockets.every(({ path }) => path.startsWith(`${code.prefix}/`)))
})

test('its service workers have nothing but the prefix in their scope', async () => {
  const scopes = await page.evaluate(
    `navigator.serviceWorker.getRegistrations().then((all) => all.map((each) => each.scope))`,
  )
  assert.deepEqual(scopes, [code.home])
})

test('a file is opened, typed in and saved', async () => {
  await page.getByRole('treeitem', { name: 'notes.md' }).dblclick()
  await page.locator('.monaco-editor .view-line').getByText('Notes').first().click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\ntyped in a browser')
  await page.keyboard.press('Control+s')
  await code.shell(untilIn('notes.md', 'typed in a browser'))
})

test('the terminal runs a command', async () => {
  await page.keyboard.press('Control+`')
  await page.locator('.terminal-wrapper.active .xterm-helper-textarea').waitFor({ state: 'attached' })
  await page.waitForTimeout(1_500)
  await page.locator('.terminal-wrapper.active .xterm-helper-textarea').focus()
  await page.keyboard.type('echo from-$((6*7)) > out.txt\n')
  await page.getByRole('treeitem', { name: 'out.txt' }).waitFor()
  await code.shell(untilIn('out.txt', 'from-42'))
  await takePicture(page, 'code-server')
})

test('a file that changes in the container changes in the editor', async () => {
  await code.shell('echo >> project/notes.md && echo changed outside >> project/notes.md')
  await page
    .locator('.monaco-editor .view-line')
    .getByText(/changed.outside/)
    .waitFor()
})

test("a webview, which is a frame with a service worker of its own, shows the file's preview", async () => {
  await page.locator('.monaco-editor .view-line').first().click()
  await page.keyboard.press('Control+Shift+v')
  const preview = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame')
  await preview.getByRole('heading', { name: 'Notes' }).waitFor()
  await takePicture(page, 'code-server-preview')
  const workers = code.traffic.workers.filter((path) => !path.startsWith(`${code.prefix}/`))
  assert.deepEqual(workers, [])
})

test('a server that a person starts in it is reached through its own proxy, one prefix further', async () => {
  await code.shell('mkdir -p /tmp/site && echo inner > /tmp/site/index.html && httpd -p 3000 -h /tmp/site')
  assert.equal(
    ((await page.evaluate(`fetch('${code.home}proxy/3000/').then((answer) => answer.text())`)) as string).trim(),
    'inner',
  )
})

test('nothing left the prefix in all that time', () => {
  assert.deepEqual(code.traffic.outside, [])
  assert.deepEqual(
    code.traffic.sockets.filter(({ error }) => error !== undefined),
    [],
  )
})

test('stopped, it wakes when its page is opened: the browser waits and moves on by itself', async () => {
  await code.stop()
  await page.goto(code.home)
  await workbenchIsReady()
})

test('guarded: its own sign-in works, redirects and cookie included', async () => {
  const { home, traffic } = await app.open('guarded')
  assert.equal(page.url().split('?')[0], `${home}login`)
  await page.getByPlaceholder('PASSWORD').fill('anchor')
  await page.getByRole('button', { name: 'Submit' }).click()
  await workbenchIsReady()
  const cookies = await page.context().cookies(home)
  assert.deepEqual(
    cookies.filter(({ name }) => name.startsWith('code-server')).map(({ path }) => path),
    [new URL(home).pathname],
  )
  // Both are on one origin, so VS Code finds what the other one noted in the browser's storage: addresses of icons, for one.
  const ofTheOther = `GET ${code.prefix}/`
  assert.deepEqual(
    traffic.outside.filter((request) => !request.startsWith(ofTheOther)),
    [],
  )
  await takePicture(page, 'code-server-guarded')
})

test('strip_prefix: false is not for code-server, which has no base path of its own', async () => {
  const { traffic } = await app.open('whole')
  assert.deepEqual(traffic.failed, ['404 GET /ann-whole/'])
})

test('idle: a page that is left open is suspended; a person who types and a command in a terminal are use', async () => {
  // It is suspended while its page is not there yet.
  assert.equal((await app.ann.call('POST', '/api/container/launch/idle')).status, 200)
  // As VS Code leaves a home in which a person has installed an extension, which stays as it is.
  const { containers } = (await app.ann.call('GET', '/api/user/containers')).body
  const { container_id: id } = containers.find((each: { type: string }) => each.type === 'idle')
  await execInContainer(id, homeWithExtension)
  await app.open('idle')
  assert.deepEqual(await extensionsOf(id), ['berth.idle', 'own.words'])
  const { isRunning, runsFor, isSuspendedWithin } = watchIdle(app, 'idle')
  await workbenchIsReady()
  for (const end = Date.now() + 90_000; Date.now() < end; await runsFor(5)) await page.keyboard.press('Control+Home')
  // A new one, whether or not the panel is there already.
  await page.keyboard.press('Control+Shift+`')
  const typed = page.locator('.terminal-wrapper.active .xterm-helper-textarea')
  await typed.waitFor({ state: 'attached' })
  await page.waitForTimeout(1_500)
  await typed.focus()
  // VS Code takes a person for gone who did nothing for a minute.
  await page.keyboard.type('sleep 170; echo slept > slept.txt\n')
  await runsFor(160)
  await isSuspendedWithin(180)
  // The page is still open, and tries to connect.
  await page.waitForTimeout(5_000)
  assert.equal(await isRunning(), false)
  await page.goto('about:blank')
  await app.open('idle')
  await page.getByRole('treeitem', { name: 'slept.txt' }).waitFor()
})

const extensions = '/home/coder/.local/share/code-server/extensions'
const ownExtension = {
  identifier: { id: 'own.words' },
  version: '1.0.0',
  location: { $mid: 1, path: `${extensions}/own.words-1.0.0`, scheme: 'file' },
  relativeLocation: 'own.words-1.0.0',
  metadata: {},
}
const ownPackage = { name: 'words', publisher: 'own', version: '1.0.0', engines: { vscode: '*' } }
const homeWithExtension = [
  `mkdir -p ${extensions}/own.words-1.0.0`,
  `echo '${JSON.stringify(ownPackage)}' > ${extensions}/own.words-1.0.0/package.json`,
  `echo '${JSON.stringify([ownExtension])}' > ${extensions}/extensions.json`,
].join(' && ')

/** Ids of the extensions that VS Code runs, sorted. @throws {AssertionError} when it has changed the one that was there */
async function extensionsOf(id: string): Promise<string[]> {
  const list = JSON.parse(await execInContainer(id, `cat ${extensions}/extensions.json`)) as (typeof ownExtension)[]
  assert.deepEqual(
    list.find((each) => each.identifier.id === 'own.words'),
    ownExtension,
  )
  return list.map(({ identifier }) => identifier.id).toSorted()
}

/** A shell's line that waits for a text in a file of the project, and fails when it does not come within 5 s. */
const untilIn = (file: string, text: string) =>
  `for each in $(seq 50); do grep -q '${text}' /home/coder/project/${file} && exit 0; sleep 0.1; done; exit 1`

test('berth templates try finds nothing that breaks', async () => {
  assert.deepEqual(await tryHere('code-server', image), { works: true, findings: [] })
})

async function workbenchIsReady(): Promise<void> {
  await page.locator('.monaco-workbench').waitFor()
  await page.getByRole('treeitem', { name: 'notes.md' }).waitFor()
}
