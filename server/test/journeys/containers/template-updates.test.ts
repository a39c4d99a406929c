// Part of npm run test:more: `specification/administration/templates.test.ts` has the rules that the page shows.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { importPage } from '#test/support/engine/imported-image.ts'
import { startRegistry } from '#test/support/engine/registry.ts'
import { inGerman, t as said } from '#test/support/front-end-text.ts'

/** An operator imports a newer image under the same tag; an administrator sees on the templates page which containers run the older one, and updates them. */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const repository = `berth-test-lab-${process.pid}`
const image = `${repository}:2026`
const editions: string[] = []
/** Not in the hook of a test: an image that is gone has no older version. */
const importEdition = async (text: string) => void editions.push(await importPage(image, text))
await importEdition('first edition')
const registry = await startRegistry({ after })
const templates = {
  lab: { image, memory: '64m', home: null },
  pulled: { image: registry.image },
  missing: { image: 'registry.example.org/course/none:1' },
}
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
// Behind the hook that removes the containers: Docker keeps an image that one of them runs.
after(() =>
  Promise.all(
    editions.map((id) => askEngine('DELETE', `/images/${id}`, { query: { force: 'true' } }).catch(() => undefined)),
  ),
)
const boss = await berth.administrator()
const ann = await berth.signUp('ann@x.org')
const ben = await berth.signUp('ben@x.org')

const url = berth.app.frontendUrl
const { page, problems } = await openTab({ after })
const anns = await openTab({ after })
const phone = await openTab({ after })
await phone.page.setViewportSize({ width: 390, height: 800 })
for (const [tab, person, language] of [
  [page, boss, 'en'],
  [anns.page, ann, 'en'],
  [phone.page, boss, 'de'],
] as const)
  await tab.context().addCookies([
    { name: 'spawner_token', value: person.token, url, httpOnly: true },
    { name: 'spawner_language', value: language, url },
  ])
const row = (type: string, of = page) =>
  of.getByRole('listitem').filter({ has: of.getByRole('heading', { name: type, exact: true }) })
const lab = row('lab')
const dialog = page.locator('dialog[open]')
const shown = (type: string) => row(type).locator('.template-image').innerText()
const pageOf = async (person: typeof ann) => (await person.call('GET', `/${person.slug}-lab/`)).text
const containerOf = async (person: typeof ann) => (await person.call('GET', '/api/container/status')).body.container_id

/** Presses one of the three buttons, reads what it would do, and confirms. */
async function update(mode: 'when_stopped' | 'ask' | 'now'): Promise<void> {
  await lab.getByRole('button', { name: said(`admin.templates.mode.${mode}.openThis`, { type: 'lab' }) }).click()
  await dialog.getByText(said(`admin.templates.mode.${mode}.effect`)).waitFor()
  assert.deepEqual(await violations(page), [])
  await takePicture(page, `templates-${mode}`)
  await dialog.getByRole('button', { name: said(`admin.templates.mode.${mode}.open`), exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('the page shows the image of each template: its tag, its digest when it was pulled, and since when it is there', async () => {
  // Berth pulls the image; there is no program in it.
  assert.equal((await ann.call('POST', '/api/container/launch/pulled')).status, 500)
  await page.goto(`${url}/admin/templates`)
  await lab.getByText(said('admin.templates.upToDate')).waitFor()
  const [pulled] = await imagesOf(registry.image)
  assert.match(pulled?.digest ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.match(await shown('lab'), new RegExp(`^${image}\\s+Pulled or built \\S`))
  assert.doesNotMatch(await shown('lab'), /sha256/, 'an imported image has no digest of a registry')
  assert.match(await shown('pulled'), new RegExp(`^${registry.image}\\s+${pulled?.digest}\\s+Pulled or built \\S`))
  assert.ok((await shown('missing')).includes(said('admin.templates.noImage')), await shown('missing'))
  assert.deepEqual(await violations(page), [])
})

test('after an import under the same tag the page names the owners of containers with the older image', async () => {
  assert.equal(await pageOf(ann), 'first edition\n')
  await importEdition('second edition')
  await page.reload()
  await lab.getByText(said('admin.templates.older', { count: 2 })).waitFor()
  const owners = lab.getByRole('list', { name: said('admin.templates.owners', { type: 'lab' }) })
  assert.deepEqual((await owners.getByRole('listitem').allInnerTexts()).sort(), ['ann@x.org', 'ben@x.org'])
  assert.equal(await pageOf(ann), 'first edition\n', 'what runs keeps its image')
  assert.deepEqual(await violations(page), [])
  await takePicture(page, 'templates')
})

test('Ask: the dashboards of the owners offer a restart, which brings the new image', async () => {
  await update('ask')
  await lab.getByText(said('admin.templates.asked', { count: 2 })).waitFor()
  await anns.page.goto(url)
  await anns.page.getByText(said('dashboard.restartRequested')).waitFor()
  assert.deepEqual(await violations(anns.page), [])
  await takePicture(anns.page, 'templates-asked-owner')
  assertOk(await ann.call('POST', '/api/container/restart'))
  assert.equal(await pageOf(ann), 'second edition\n')
  await anns.page.getByText(said('dashboard.restartRequested')).waitFor({ state: 'detached' })
  await page.reload()
  await lab.getByText(said('admin.templates.older', { count: 1 })).waitFor()
})

test('Update when stopped: nothing is asked any more, and the next start from stopped brings the new image', async () => {
  await update('when_stopped')
  await lab.getByText(said('admin.templates.asked', { count: 1 })).waitFor({ state: 'detached' })
  assert.equal(await pageOf(ben), 'first edition\n')
  assertOk(await ben.call('POST', '/api/container/stop/lab'))
  assertOk(await ben.call('POST', '/api/container/launch/lab'))
  assert.equal(await pageOf(ben), 'second edition\n')
  await page.reload()
  await lab.getByText(said('admin.templates.upToDate')).waitFor()
})

test('on a phone and in German: the page fits, and Now replaces the containers that run', async () => {
  await importEdition('third edition')
  const old = await containerOf(ann)
  const { page: small } = phone
  await small.goto(`${url}/admin/templates`)
  await small.getByText(inGerman('admin.templates.older', { count: 2 })).waitFor()
  assert.ok((await small.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  assert.deepEqual(await violations(small), [])
  await takePicture(small, 'templates-phone-german')
  const now = inGerman('admin.templates.mode.now.openThis', { type: 'lab' })
  await row('lab', small).getByRole('button', { name: now }).click()
  const asked = small.locator('dialog[open]')
  await asked.getByText(inGerman('admin.templates.mode.now.effect')).waitFor()
  assert.deepEqual(await violations(small), [])
  await takePicture(small, 'templates-now-phone-german')
  await asked.getByRole('button', { name: inGerman('admin.templates.mode.now.open'), exact: true }).click()
  await small.getByText('2 Container werden ersetzt').waitFor()
  // The page asks again every ten seconds.
  await row('lab', small).getByText(inGerman('admin.templates.upToDate')).waitFor({ timeout: 40_000 })
  await takePicture(small, 'templates-done-phone-german')
  assert.deepEqual([await pageOf(ann), await pageOf(ben)], ['third edition\n', 'third edition\n'])
  assert.notEqual(await containerOf(ann), old)
  assert.deepEqual([...problems, ...anns.problems, ...phone.problems], [])
})

const imagesOf = async (reference: string) =>
  (await boss.call('GET', '/api/admin/templates')).body.templates
    .map((each: { image: { reference: string; digest: string | null } }) => each.image)
    .filter((each: { reference: string }) => each.reference === reference) as { digest: string | null }[]

async function violations(of: Page): Promise<string[]> {
  await of.evaluate(axe.source)
  return of.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

async function takePicture(of: Page, name: string): Promise<void> {
  if (pictures) await of.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true })
}
