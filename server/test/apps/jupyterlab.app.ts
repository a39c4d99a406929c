import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { appImage } from './support/app-image.ts'
import { tryHere } from './support/catalogue.ts'
import { watchIdle } from './support/idle.ts'
import { installDebianPackages } from './support/install-debian-packages.ts'
import { fingerprintOf, largeFile } from './support/large-file.ts'
import { type Fields, runApp, shownTemplate, takePicture } from './support/run-app.ts'

/**
 * JupyterLab 4 of Debian 13 with the user, home and working directory of the image that the templates name: no registry of
 * images is asked in tests. Everything else of the templates runs as README.md and the how-to print it.
 */
const image = await appImage('jupyterlab', async (folder) => {
  const packages = ['base-files', 'libc-bin', 'dash', 'coreutils', 'grep', 'jupyter-core', 'jupyterlab']
  await installDebianPackages(folder, packages, 'trixie')
  // A gigabyte that serves to build extensions, and to read.
  for (const unused of ['nodejs', 'doc', 'man', 'locale'])
    rmSync(path.join(folder, 'root/usr/share', unused), { recursive: true, force: true })
})
const shown = shownTemplate('jupyterlab')
const app = await runApp(
  { after },
  image,
  // Longer than a page of JupyterLab takes to open: nothing is in use before.
  { jupyterlab: shown, notebook: templateOfReadme(), idle: { ...shown, idle_probe: 'jupyter', idle_timeout: 40 } },
  // A page that was opened counts for a few seconds, in place of five minutes.
  { pace: { navigation: 3_000 } },
)
const jupyter = await app.open('notebook', 'lab')
const { page, context } = app

test("README's notebook template: JupyterLab opens, and everything comes from below the prefix", async () => {
  await page.locator('.jp-Launcher').waitFor()
  await takePicture(page, 'jupyterlab')
  assert.deepEqual(jupyter.traffic.outside, [])
  // Its extension for language servers asks for a part of the server that is a package of its own.
  assert.deepEqual(jupyter.traffic.failed, ['404 GET /ann-notebook/lsp/status'])
})

test('a cell runs: its text goes to the kernel and its result comes back through a socket', async () => {
  await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click()
  await page.locator('.jp-Notebook .cm-content').first().click()
  await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor()
  await page.keyboard.type('print("from", 6*7)')
  await page.keyboard.press('Shift+Enter')
  await page.locator('.jp-OutputArea-output').getByText('from 42').waitFor()
  await page
    .locator('.jp-Toolbar-item [data-command="docmanager:save"], [data-jp-item-name="save"] button')
    .first()
    .click()
  // The first time it asks for a name.
  await page.locator('.jp-Dialog .jp-mod-accept').click()
  await takePicture(page, 'jupyterlab-notebook')
  await jupyter.shell(
    'cd; for each in $(seq 50); do grep -q "from 42" *.ipynb && exit 0; sleep 0.1; done; ls -la; exit 1',
  )
  assert.ok(jupyter.traffic.sockets.some(({ path: to }) => /^\/ann-notebook\/api\/kernels\/[^/]+\/channels$/.test(to)))
})

test('a terminal runs a command', async () => {
  await page.goto(`${jupyter.home}lab?reset`)
  await page.locator('.jp-LauncherCard[title="Start a new terminal session"]').first().click()
  await page.locator('.jp-Terminal .xterm-screen').first().click()
  await page.keyboard.type('echo typed-$((6*7)) > ~/out.txt\n')
  await jupyter.shell('for each in $(seq 50); do grep -q typed-42 ~/out.txt && exit 0; sleep 0.1; done; exit 1')
})

test('a file of 1 GiB is uploaded from the list of files, and downloaded again as it was', async () => {
  const file = await largeFile({ after }, 'measured.bin')
  const limit = { timeout: 300_000 }
  await page.goto(`${jupyter.home}lab?reset`)
  const chosen = page.waitForEvent('filechooser')
  await page.locator('.jp-FileBrowser [data-command="filebrowser:upload"], .jp-id-upload').first().click()
  await (await chosen).setFiles(file)
  await page.locator('.jp-Dialog .jp-mod-accept').click()
  const entry = page.locator('.jp-DirListing-item').filter({ hasText: 'measured.bin' })
  await entry.waitFor(limit)
  const size = () => jupyter.shell('stat -c %s ~/measured.bin')
  for (const end = Date.now() + 300_000; (await size()).trim() !== String(1024 ** 3); await page.waitForTimeout(1_000))
    assert.ok(Date.now() < end, `after five minutes ${await size()} bytes are there`)
  const expected = await fingerprintOf(file)
  assert.match(await jupyter.shell('sha256sum ~/measured.bin'), new RegExp(`^${expected} `))
  const [download] = await Promise.all([
    page.waitForEvent('download', limit),
    entry.click({ button: 'right' }).then(() => page.locator('.lm-Menu [data-command="filebrowser:download"]').click()),
  ])
  assert.equal(await fingerprintOf(await download.path()), expected)
  await jupyter.shell('rm ~/measured.bin')
})

test('its cookies stay below the prefix, and nothing left it in all that time', async () => {
  const cookies = (await context.cookies(jupyter.home)).filter(({ name }) => !name.startsWith('spawner_'))
  assert.deepEqual(cookies.map(({ name }) => name.replace(/-\d+$/, '')).sort(), [
    '_xsrf',
    'username-spawner-berth-localhost',
  ])
  assert.ok(cookies.every(({ path: below }) => below === '/ann-notebook/'))
  assert.deepEqual(jupyter.traffic.outside, [])
})

test("the how-to's template answers the same", async () => {
  const { traffic } = await app.open('jupyterlab', 'lab')
  await page.locator('.jp-Launcher').waitFor()
  assert.deepEqual(traffic.outside, [])
})

test('idle: a page that is left open is suspended; a cell that runs and a terminal that prints are not', async () => {
  const idle = await app.open('idle', 'lab?reset')
  const { isRunning, runsFor, isSuspendedWithin } = watchIdle(app, 'idle')
  await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click()
  await page.locator('.jp-Notebook .cm-content').first().click()
  await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor()
  await page.keyboard.type('import time; time.sleep(70)')
  await page.keyboard.press('Shift+Enter')
  await runsFor(65)
  await isSuspendedWithin(120)
  // The page is still open, and asks for its kernels.
  await page.waitForTimeout(5_000)
  assert.equal(await isRunning(), false)
  await page.goto(`${idle.home}lab?reset`)
  await page.locator('.jp-LauncherCard[title="Start a new terminal session"]').first().click()
  await page.locator('.jp-Terminal .xterm-screen').first().click()
  await page.keyboard.type('for each in $(seq 35); do echo $each; sleep 2; done\n')
  await runsFor(65)
  await isSuspendedWithin(120)
})

test('berth templates try finds nothing that breaks', async () => {
  assert.deepEqual(await tryHere('jupyterlab', image), { works: true, findings: [] })
})

/** The one YAML block of README.md. */
function templateOfReadme(): Fields {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../../README.md'), 'utf8')
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? []
  const { notebook } = parse(yaml) as Record<string, Fields>
  assert.ok(notebook, 'README.md shows no template "notebook"')
  return notebook
}
