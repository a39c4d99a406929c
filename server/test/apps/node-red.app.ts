import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { tryHere } from './support/catalogue.ts'
import { installPackages } from './support/install-npm-packages.ts'
import { runApp, shownTemplate, takePicture, type Opened } from './support/run-app.ts'

const shown = shownTemplate('node-red')
const image = await appImage('node-red', (folder) => installPackages(folder))
const app = await runApp({ after }, image, {
  'node-red': shown,
  whole: { ...shown, strip_prefix: false, command: ['--settings', '/opt/node-red/settings/whole.cjs'] },
  guarded: { ...shown, command: ['--settings', '/opt/node-red/settings/guarded.cjs'] },
})
const { page } = app

const flow = readFileSync(path.join(import.meta.dirname, 'node-red/flow.json'), 'utf8')

for (const type of ['node-red', 'whole'] as const) {
  test(`${type}: the editor opens, and everything comes from below the prefix`, async () => {
    const { traffic } = await openEditor(type)
    assert.deepEqual(traffic.outside, [])
    assert.deepEqual(traffic.failed, [])
  })

  test(`${type}: a flow is deployed, runs, and its message arrives through the socket`, async () => {
    const { prefix, traffic } = await openEditor(type)
    await importFlow()
    await page.locator('#red-ui-header-button-deploy').click()
    await page.getByText('Successfully deployed').waitFor()
    await page.locator('.red-ui-flow-node-button').first().click()
    await page.locator('.red-ui-debug-msg').getByText('ahoy').waitFor()
    await takePicture(page, type)
    const sockets = traffic.sockets.map(({ path, isOpen }) => [path, isOpen])
    assert.deepEqual(sockets, [[`${prefix}/comms`, true]])
  })

  test(`${type}: the flow answers on its own address, and is there after a reload`, async () => {
    const { home, shell } = await openEditor(type)
    assert.equal(await page.evaluate(`fetch('${home}hello').then((answer) => answer.text())`), 'from a flow')
    assert.match(await shell('cat /data/flows*.json'), /From the clipboard/)
    await page.getByRole('tab').or(page.locator('.red-ui-tab')).getByText('From the clipboard').first().waitFor()
  })
}

test("guarded: the editor's own sign-in works, its token in an Authorization header beside our cookie", async () => {
  const { traffic } = await app.open('guarded')
  await page.locator('#node-dialog-login-username').fill('ann')
  await page.locator('#node-dialog-login-password').fill('anchor')
  await page.locator('#node-dialog-login-submit').click()
  await editorIsReady()
  await importFlow()
  await page.locator('#red-ui-header-button-deploy').click()
  await page.getByText('Successfully deployed').waitFor()
  await takePicture(page, 'guarded')
  assert.deepEqual(traffic.outside, [])
  assert.deepEqual(traffic.failed, ['401 GET /ann-guarded/settings'])
})

test('berth templates try finds nothing that breaks', async () => {
  assert.deepEqual(await tryHere('node-red', image), { works: true, findings: [] })
})

async function openEditor(type: string): Promise<Opened> {
  const opened = await app.open(type)
  await editorIsReady()
  return opened
}

async function editorIsReady(): Promise<void> {
  await page.locator('.red-ui-palette-node').first().waitFor()
  await page.locator('#red-ui-loading-progress').waitFor({ state: 'hidden' })
}

async function importFlow(): Promise<void> {
  await page.keyboard.press('Control+i')
  const field = page.locator('#red-ui-clipboard-dialog-import-text')
  await field.fill(flow)
  // The dialog looks at its field when a key is let go.
  await field.press('End')
  await page.locator('#red-ui-clipboard-dialog-ok').click()
  await page.locator('.red-ui-workspace-tab-label, .red-ui-tab-label').getByText('From the clipboard').click()
  await page.locator('.red-ui-flow-node-button').first().waitFor()
}
