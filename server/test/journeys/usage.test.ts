// Part of npm run test:more: what one page shows; specification and store have its numbers.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import { parse } from 'csv-parse/sync'
import type { UsageKind, UsageSums } from '#/store/usage-sums.ts'
import { addUsage } from '#/store/usage-sums.ts'
import { sumsOf } from '#/usage/usage-recorder.ts'
import { startEnginelessBerth, tokenIn } from '#test/support/berth-without-engine.ts'
import { openTab } from '#test/support/browser.ts'
import { inGerman, t as said } from '#test/support/front-end-text.ts'

/** An administrator asks what an idle stop would save, who used how much, and takes the numbers home as a file. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const berth = await startEnginelessBerth({ after }, { webDir })

async function signUp(email: string): Promise<{ token: string; id: number }> {
  await berth.call('POST', '/api/auth/signup', { body: { email } })
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(berth.mails.at(-1)!)}`)
  return { token: body.access_token, id: body.user.id }
}
const boss = await signUp('boss@x.org')
const ann = await signUp('ann@x.org')

const today = new Date().toISOString().slice(0, 10)
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
/** Two hours in which bytes moved, and of those without a byte two after five minutes and six after an hour. */
const hours = (count: number, idleMinutes: number | undefined): UsageSums =>
  sumsOf({
    seconds: count * 3_600,
    isPaused: false,
    isUsed: idleMinutes === undefined,
    idleFor: (idleMinutes ?? 0) * 60,
    cores: 2,
    memory: 4 * 1_073_741_824,
  })
const measured = {
  measured_s: 7_200,
  cpu_used_ms: 1_800_000,
  memory_used_mib_s: 7_200 * 1_024,
  home_mib_s: 7_200 * 2_048,
}
for (const [kind, subject_id] of [['all', 0] as const, ['user', ann.id] as const] satisfies [UsageKind, number][])
  for (const day of [yesterday, today])
    for (const [unit, period] of [['day', day] as const, ['month', day.slice(0, 7)] as const]) {
      const key = { unit, period, kind, subject_id, container_type: 'dev' }
      await addUsage(berth.database.db, [{ ...key, ...hours(2, undefined), ...measured }])
      await addUsage(berth.database.db, [{ ...key, ...hours(2, 5) }])
      await addUsage(berth.database.db, [{ ...key, ...hours(6, 60) }])
    }

const { page, problems } = await openTab({ after })
await page
  .context()
  .addCookies([{ name: 'spawner_token', value: boss.token, url: berth.app.frontendUrl, httpOnly: true }])
const answer = page.locator('.idle-stop-answer')
const stopAfter = (minutes: number, t = said) =>
  page.getByRole('radio', { name: t('admin.usage.idleStop.minutes', { minutes }), exact: true })
const shows = (text: string) => answer.filter({ hasText: text }).waitFor()

async function violations(): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

async function download(button: string) {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ])
  const rows: Record<string, string>[] = parse(await readFile(await file.path(), 'utf8'), { columns: true, bom: true })
  return { name: file.suggestedFilename(), rows }
}

test('the page says what an idle stop would have saved, for each time that is chosen', async () => {
  await page.goto(`${berth.app.frontendUrl}/admin`)
  await page.getByRole('link', { name: said('admin.shell.usage'), exact: true }).click()
  await shows('12 h of 20 h: 60')
  await stopAfter(5).check()
  await shows('16 h of 20 h: 80')
  await page.keyboard.press('ArrowRight')
  await shows('12 h of 20 h: 60')
  assert.match(page.url(), /[?&]stop=15/)
  await stopAfter(120).check()
  await shows('0 h of 20 h: 0')
  assert.deepEqual(await violations(), [])
})

test('each plot has its values as a table, with a row for each day', async () => {
  const cpu = page.locator('figure').filter({ has: page.getByRole('heading', { name: said('admin.usage.plots.cpu') }) })
  await cpu.getByText(said('admin.overview.plot.table'), { exact: true }).click()
  const rows = cpu.getByRole('row')
  // The rows are rendered after the press that opens the table.
  await rows.first().waitFor()
  assert.equal(await rows.count(), 31)
  assert.deepEqual(await rows.nth(1).getByRole('cell').allTextContents(), ['0.5\u00A0h', '20\u00A0h'])
})

test('users of the day are listed, lead to their own sums, and are saved as a file', async () => {
  await page.getByRole('radio', { name: said('admin.usage.rows.user'), exact: true }).check()
  await page.getByRole('row').filter({ hasText: 'ann@x.org' }).waitFor()
  const file = await download(said('admin.usage.export.rows'))
  assert.equal(file.name, `berth-usage-user-${today}.csv`)
  assert.deepEqual(
    file.rows.map((row) => [row.name, row.running_hours, row.cpu_hours, row.idle_30_hours]),
    [['ann@x.org', '10', '0.5', '6']],
  )
  await page.getByRole('link', { name: 'ann@x.org' }).click()
  await page.locator('.usage-subject').filter({ hasText: 'ann@x.org' }).waitFor()
  const days = await download(said('admin.usage.export.day'))
  assert.deepEqual(
    days.rows.map((row) => row.key),
    [yesterday, today],
  )
  assert.equal(await page.getByLabel(said('admin.usage.scope.user')).inputValue(), String(ann.id))
})

test('a user is found by address, and one that is not there is told', async () => {
  const field = page.getByLabel(said('admin.usage.scope.user'))
  await field.fill('unknown@x.org')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: /\p{L}/u }).first().waitFor()
  await field.fill('ANN@x.org')
  await page.keyboard.press('Enter')
  await page.locator('.usage-subject').filter({ hasText: 'ann@x.org' }).waitFor()
  await field.fill(String(boss.id))
  await page.keyboard.press('Enter')
  await page.getByText(said('admin.usage.none')).waitFor()
  problems.splice(0, problems.length, ...problems.filter((each) => !/status of 404/.test(each)))
})

test('on a phone, in German and by month it fits, and axe finds nothing', async () => {
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(`${berth.app.frontendUrl}/admin/usage?unit=month&stop=60`)
  await page
    .getByRole('button', { name: 'Deutsch' })
    .or(page.getByRole('radio', { name: 'Deutsch' }))
    .first()
    .click()
  await page.getByRole('heading', { name: inGerman('admin.usage.idleStop.title') }).waitFor()
  await shows('12 h von 20 h')
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  assert.deepEqual(await violations(), [])
  assert.deepEqual(problems, [])
})
