// Part of npm run test:more: a browser; specification/sessions has the rules of the page.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { assertOk, logIn, tokenBy } from '#test/support/api-calls.ts'
import { startBerth, type Reply } from '#test/support/berth.ts'
import { arrival, openTab, steadily } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { t as said } from '#test/support/front-end-text.ts'
import { waitLimit } from '#test/support/extent.ts'

/** A user looks at their sessions, and ends one that is not theirs; and a takeover ends by itself. `BERTH_SCREENSHOTS=folder` keeps pictures. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const berth = await startBerth({ after }, { webDir, wrapRuntime: noCreateRuntime })
const boss = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')
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

test('a takeover ends by itself in the browser of who acts, in time, although its clock is twenty minutes fast', async () => {
  const acting = await (await page.context().browser()!.newContext()).newPage()
  acting.setDefaultTimeout(waitLimit(40_000))
  await acting.clock.install({ time: Date.now() + 1_200_000 })
  const open = (path: string) => steadily(() => acting.goto(berth.app.spawnerUrl + path))
  await open(`/verify-login?token=${await tokenBy(berth, 'login', 'boss@x.org')}`)
  await acting.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
  await acting.getByRole('heading', { name: said('dashboard.title') }).waitFor()
  await open('/admin/users')
  await acting.getByRole('button', { name: said('admin.table.actionsOf', { name: 'ann@x.org' }) }).click()
  await acting.getByRole('menuitem', { name: said('admin.users.actions.takeOver') }).click()
  await acting.getByLabel(said('admin.users.takeOver.reason')).fill('Her editor hangs')
  await acting.getByRole('button', { name: said('admin.users.takeOver.confirm'), exact: true }).click()
  const banner = acting.getByRole('region', { name: said('takeover.label') })
  await banner.getByText('ann@x.org').waitFor()
  await banner.getByText(/ends in 1[0-4]:\d\d/).waitFor()
  await acting.clock.fastForward('09:30')
  await banner.getByText(/ends in [0-5]:\d\d/).waitFor()
  await acting.clock.fastForward('05:30')
  await arrival(acting, '/admin/users')
  await acting
    .getByRole('button', { name: /boss@x\.org/ })
    .first()
    .waitFor()
  assert.equal(await banner.count(), 0)
  const { sessions } = (await ann.call('GET', '/api/user/sessions')).body
  const isUnderWay = (each: Reply['body']) => each.taken_over_by !== null && each.ended_at === null
  assert.equal(sessions.some(isUnderWay), false)
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
