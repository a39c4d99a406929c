import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { installDebianPackages } from './support/install-debian-packages.ts'
import { runApp, shownTemplate, takePicture } from './support/run-app.ts'

const shown = shownTemplate('jupyter')
const image = await appImage('jupyter', (folder) => installDebianPackages(folder, ['jupyter-notebook']))
const app = await runApp({ after }, image, {
  jupyter: shown,
  // Its prefix begins with that of the first one.
  jupyter2: shown,
  bare: {
    ...shown,
    strip_prefix: true,
    command: ['sh', '-c', 'exec jupyter notebook --ip=0.0.0.0 --port=8888 --no-browser --NotebookApp.token='],
  },
})
const jupyter = await app.open('jupyter')
const { page, context } = app

test('the list of files opens, and everything comes from below the prefix', async () => {
  await page.getByRole('button', { name: 'New' }).or(page.locator('#new-dropdown-button')).first().waitFor()
  await takePicture(page, 'jupyter')
  assert.deepEqual(jupyter.traffic.outside, [])
  assert.deepEqual(jupyter.traffic.failed, [])
})

test('a cell runs: its text goes to the kernel and its result comes back through a socket', async () => {
  await page.locator('#new-dropdown-button').click()
  const opened = context.waitForEvent('page')
  await page.locator('#kernel-python3 a').click()
  const notebook = await opened
  await notebook.locator('.CodeMirror').first().click()
  await notebook.keyboard.type('print("from", 6*7)')
  await notebook.locator('#kernel_indicator_icon.kernel_idle_icon').waitFor()
  await notebook.keyboard.press('Shift+Enter')
  await notebook.locator('.output_text').getByText('from 42').waitFor()
  await notebook.keyboard.press('Control+s')
  await notebook.getByText('Checkpoint created').first().waitFor()
  await takePicture(notebook, 'jupyter-notebook')
  assert.match(await jupyter.shell('cat /home/berth/Untitled.ipynb'), /from 42/)
  assert.match(jupyter.traffic.sockets[0]?.path ?? '', /^\/ann-jupyter\/api\/kernels\/[^/]+\/channels$/)
})

test("a terminal's socket runs a command", async () => {
  // By a script of ours: Debian's page for terminals has an error of its own, without Berth too.
  await page.evaluate(terminalScript)
  await jupyter.shell('for each in $(seq 50); do grep -q typed-42 out.txt && exit 0; sleep 0.1; done; exit 1')
})

test('its cookies stay below the prefix, and nothing left it in all that time', async () => {
  const cookies = (await context.cookies(jupyter.home)).filter(({ name }) => !name.startsWith('spawner_'))
  assert.deepEqual(
    cookies.map(({ name, path }) => [name, path]),
    [['_xsrf', '/ann-jupyter']],
  )
  assert.deepEqual(jupyter.traffic.outside, [])
  // Widgets are a package of their own, which Jupyter asks for in vain.
  assert.deepEqual(jupyter.traffic.failed, ['404 GET /ann-jupyter/nbextensions/widgets/notebook/js/extension.js'])
})

test('version 6 sets its cookie _xsrf for the whole host, and two containers of one user work side by side all the same', async () => {
  const script = `import os, urllib.request; print(urllib.request.urlopen("http://127.0.0.1:8888" + os.environ["BASE_PATH"] + "/tree").headers["set-cookie"])`
  assert.match(await jupyter.shell(`python3 -c '${script}'`), /^_xsrf=[^;]+;.* Path=\/\n/)
  const second = await app.open('jupyter2', 'tree')
  assert.deepEqual(second.traffic.outside, [])
  const proofs = (await context.cookies([jupyter.home, second.home])).filter(({ name }) => name === '_xsrf')
  assert.deepEqual(proofs.map(({ path }) => path).sort(), ['/ann-jupyter', '/ann-jupyter2'])
  assert.equal(new Set(proofs.map(({ value }) => value)).size, 2)
  for (const { home } of [jupyter, second, jupyter]) {
    await page.goto(`${home}tree`)
    assert.deepEqual(await page.evaluate(newFileScript), { cookies: 1, status: 201 })
  }
})

test('strip_prefix: false is needed: Jupyter asks for its scripts at the root', async () => {
  const { traffic } = await app.open('bare')
  assert.ok(traffic.outside.includes('GET /static/components/requirejs/require.js'))
})

/** Asks for a terminal and types into it, as the page would. */
const terminalScript = `(async () => {
  const proof = /_xsrf=([^;]*)/.exec(document.cookie)[1]
  const asked = await fetch('api/terminals', { method: 'POST', headers: { 'X-XSRFToken': proof } })
  const { name } = await asked.json()
  const socket = new WebSocket(location.href.replace(/^http/, 'ws').replace(/tree.*/, 'terminals/websocket/' + name))
  await new Promise((open, fail) => Object.assign(socket, { onopen: open, onerror: fail }))
  socket.send(JSON.stringify(['stdin', 'cd && echo typed-$((6*7)) > out.txt\\r']))
})()`

/** Makes a file as the button New does, with the proof that the page finds in its cookies. */
const newFileScript = `(async () => {
  const found = [...document.cookie.matchAll(/_xsrf=([^;]*)/g)]
  const headers = { 'X-XSRFToken': found[0][1], 'content-type': 'application/json' }
  const { status } = await fetch('api/contents', { method: 'POST', headers, body: '{"type": "file"}' })
  return { cookies: found.length, status }
})()`
