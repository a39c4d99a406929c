// Part of npm run test:more: the page of what specification/snapshots states.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import axe, { type AxeResults } from 'axe-core'
import { packTar, unpackTar } from 'modern-tar'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { waitLimit } from '#test/support/extent.ts'

/** How a user takes files away and brings files in, with the real server, engine and browser. */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const env = { SNAPSHOTS: 'on', CONTAINER_TEMPLATES: await testTemplates() }
const berth = await startBerth({ after }, { webDir, env })
await berth.administrator()
const ann = await berth.signUp('ann@x.org')
const launch = async () => (await ann.call('POST', '/api/container/launch/dev')).body.container_id as string
await execInContainer(await launch(), 'mkdir notes; echo mine > notes/a; head -c 2000000 /dev/urandom > large')
const folder = mkdtempSync(path.join(tmpdir(), 'berth-journey-'))
after(() => rmSync(folder, { recursive: true }))

const { page, problems } = await openTab({ after })
page.setDefaultTimeout(waitLimit(60_000))
const cookie = { name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }
await page.context().addCookies([cookie])
const ofHome = 'More actions for the home folder of Development'
/** Presses an item of a menu. */
const pick = async (menu: string | RegExp, item: RegExp) => {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitem', { name: item }).click()
}
const picture = async (name: string) => {
  if (!pictures) return
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: path.join(pictures, `snapshots-${name}-${width}.png`) })
  }
}

// The page said to stop the container first, and users had to find out where.
test('a container that runs is stopped on the page; a snapshot is made and downloaded by the browser itself', async () => {
  await page.goto(`${berth.app.frontendUrl}/snapshots`)
  await page.getByRole('button', { name: 'Stop Development' }).click()
  assert.deepEqual(await violations(), [])
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stop it to make, restore or upload').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Make a snapshot of Development' }).click()
  await page.getByText('The snapshot is made.').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    pick(/^More actions for the snapshot/, /^Download the snapshot of/),
  ])
  assert.match(download.suggestedFilename(), /^ann-dev-[\d-]+\.tar\.gz$/)
  const names = (await unpackTar(gunzipSync(readFileSync(await download.path())))).map(({ header }) => header.name)
  assert.ok(
    names.some((name) => name.endsWith('notes/a')),
    names.join(),
  )
  const all = page.getByRole('menuitem', { includeHidden: true })
  assert.deepEqual(
    await all.filter({ hasText: /home folder of Development|Files of Development/ }).allTextContents(),
    ['FilesFiles of Development', 'Upload an archiveUpload an archive into the home folder of Development'],
    'no reset: the type has no starter files',
  )
  await picture('some')
})

test('an archive is sent with its progress, and lies in a new folder', async () => {
  const archive = path.join(folder, 'course.tar')
  const body = Buffer.alloc(40_000_000, 'x')
  writeFileSync(archive, await packTar([{ header: { name: 'course/text', size: body.length, type: 'file' }, body }]))
  const shown = page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const seen = new Set<string>()
        new MutationObserver(() => {
          for (const bar of document.querySelectorAll('progress')) seen.add(bar.hasAttribute('value') ? 'part' : 'all')
          if (/are in the folder|could not/.test(document.body.textContent)) resolve([...seen])
        }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
      }),
  )
  await pick(ofHome, /^Upload an archive/)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Archive').setInputFiles(archive)
  assert.deepEqual(await violations(), [])
  await picture('upload')
  await dialog.getByRole('button', { name: 'Upload' }).click()
  const outcome = page.getByText(/The files are in the folder uploaded-/)
  await outcome.waitFor()
  assert.deepEqual((await shown).toSorted(), ['all', 'part'])
  const [, uploaded = ''] = /folder (uploaded-\S+) of/.exec((await outcome.textContent()) ?? '') ?? []
  assert.equal(
    (await execInContainer(await launch(), `stat -c %s ${uploaded}/course/text; cat notes/a`)).trim(),
    '40000000\nmine',
  )
  await ann.call('POST', '/api/container/stop/dev')
})

/** Half an hour of sending ended without a word at the first link that was pressed meanwhile. */
test('a link asks before it cancels an upload', async () => {
  const archive = path.join(folder, 'slow.tar')
  writeFileSync(archive, Buffer.alloc(1_000_000))
  await page.route('**/api/container/upload/*', () => undefined)
  await pick(ofHome, /^Upload an archive/)
  await page.getByRole('dialog').getByLabel('Archive').setInputFiles(archive)
  await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click()
  const sending = page.getByText('Sending slow.tar')
  await sending.waitFor()
  const away = page.getByRole('banner').getByRole('link').first()
  await away.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
  assert.ok(await sending.isVisible())
  await away.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave and cancel' }).click()
  await page.getByRole('heading', { level: 1, name: 'Your containers' }).waitFor()
  await page.unroute('**/api/container/upload/*')
  await page.goBack()
  await page.getByRole('button', { name: ofHome }).waitFor()
})

test('an archive that is none is refused in words that the page shows', async () => {
  const wrong = path.join(folder, 'wrong.tar')
  writeFileSync(wrong, 'this is no archive')
  await pick(ofHome, /^Upload an archive/)
  await page.getByRole('dialog').getByLabel('Archive').setInputFiles(wrong)
  await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click()
  await page.getByText('This is no complete archive.').waitFor()
})

test('a snapshot that is removed leaves the focus where its end is said', async () => {
  await pick(/^More actions for the snapshot/, /^Remove the snapshot of/)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.locator('[role=status]:focus', { hasText: 'The snapshot is removed.' }).waitFor()
})

test('files are shown folder by folder with what they take, and can be downloaded and deleted', async () => {
  await pick(ofHome, /^Files of/)
  const dialog = page.getByRole('dialog')
  const folders = dialog.getByRole('listitem')
  await dialog.getByText(/Home folder: 42 MB in/).waitFor()
  assert.match((await folders.first().textContent()) ?? '', /^uploaded-.*40 MB in 1 file/)
  assert.deepEqual(await violations(), [])
  await picture('folders')
  await folders.first().getByRole('button').first().click()
  await dialog.getByRole('button', { name: 'course', exact: true }).click()
  await dialog.getByText('text', { exact: true }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download text' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'text')
  await download.delete()
  await dialog.getByRole('button', { name: 'Delete text' }).click()
  await page.getByRole('dialog').last().getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.locator('[role=status]', { hasText: 'text is deleted.' }).waitFor()
  await dialog.getByText('This folder is empty.').waitFor()
  await dialog.getByRole('button', { name: 'Up one folder' }).click()
  await dialog.getByRole('button', { name: 'course', exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  assert.deepEqual(
    problems.filter((each) => !/400/.test(String(each))),
    [],
  )
})

async function violations(): Promise<unknown[]> {
  await page.evaluate(axe.source)
  const found = (await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())) as AxeResults
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}
