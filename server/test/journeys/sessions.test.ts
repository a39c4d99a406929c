import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { assertOk, logIn } from '#test/support/asking.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { refusingRuntime } from '#test/support/misbehaving.ts'

/** Somebody looks where they are signed in, and ends what is not theirs. `BERTH_SCREENSHOTS=folder` keeps pictures. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const berth = await startBerth({ after }, { webDir, wrapRuntime: refusingRuntime })
const boss = await berth.signUp('boss@x.org')
const ann = await berth.signUp('ann@x.org')
const { page, problems } = await openTab({ after })

test('a person sees this browser, other sessions and who acted for them, and ends the others', async () => {
  const other: string = (await logIn(berth, 'ann@x.org')).body.access_token
  assertOk(await boss.call('POST', `/api/admin/users/${ann.id}/takeover`, { body: { reason: 'Her editor hangs' } }))
  await page
    .context()
    .addCookies([{ name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }])
  await page.goto(berth.app.frontendUrl)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('link', { name: 'Where you are signed in' }).click()
  await page.getByRole('heading', { name: /This browser$/ }).waitFor()
  await page.getByRole('heading', { name: 'boss@x.org acts for you now' }).waitFor()
  await page.getByText('Reason: Her editor hangs').waitFor()
  assert.deepEqual(await violations(page), [])
  await picture('sessions')
  await page.getByRole('button', { name: 'End all others' }).click()
  await page.getByRole('heading', { name: 'boss@x.org acted for you' }).waitFor()
  await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
  assert.equal((await berth.call('GET', '/api/user/me', { token: other })).status, 401)
  assertOk(await ann.call('GET', '/api/user/me'))
  assert.deepEqual(problems, [])
})

async function violations(of: Page): Promise<string[]> {
  await of.evaluate(axe.source)
  return of.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

async function picture(name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true })
}
