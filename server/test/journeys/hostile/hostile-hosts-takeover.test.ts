// Part of npm run test:more: `hostile-takeover.test.ts` has the same below paths.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { t as said } from '#test/support/front-end-text.ts'

/**
 * Subdomain routing: an administrator acts for Eve in his browser, in which her app has a host of its own. Tokens last as long
 * as usual: a takeover lasts no longer than a token, and this one must not be over before it was tried.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const app = `
echo '<!doctype html><title>An app</title><h1>An app</h1>' > page.html
exec httpd -f -p 8080 -h /home/berth`
const type = { image: await testImage(), port: 8080, memory: '64m', command: ['/bin/sh', '-c', app] }
const templates = { dev: { ...type, display_name: 'Development', access: 'authenticated' } }
const env = { CONTAINER_TEMPLATES: JSON.stringify(templates), CONTAINER_ROUTING: 'subdomain' }
const berth = await startBerth({ after }, { webDir, env })
const { spawnerUrl: front, containerOrigin } = berth.app
const pageOf = (prefix: string) => `${containerOrigin?.(prefix)}/page.html?${Math.random()}`
const boss = await berth.administrator()
const eve = await berth.signUp('eve@x.org')
for (const each of [boss, eve]) assertOk(await each.call('POST', '/api/container/launch/dev'))
const { page } = await openTab({ after })

async function takeOver(email: string): Promise<void> {
  await page.goto(`${front}/admin/users`)
  await page.getByRole('button', { name: said('admin.table.actionsOf', { name: email }) }).click()
  await page.getByRole('menuitem', { name: said('admin.users.actions.takeOver') }).click()
  await page.getByLabel(said('admin.users.takeOver.reason')).fill('Her editor hangs')
  await page.getByRole('button', { name: said('admin.users.takeOver.confirm'), exact: true }).click()
  await page.getByRole('region', { name: said('takeover.label') }).waitFor()
}

test('an administrator who acts for a user opens none of their pages, and comes back to the own containers', async () => {
  await page.goto(`${front}/verify-login?token=${await tokenBy(berth, 'login', 'boss@x.org')}`)
  await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
  await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
  await takeOver('eve@x.org')
  const refused = await page.goto(pageOf('eve-dev'))
  assert.equal(refused?.status(), 403, page.url())
  assert.match((await page.textContent('body')) ?? '', /While you act for another user/)
  await page.goto(front)
  await page.getByRole('button', { name: said('takeover.end'), exact: true }).click()
  await page.waitForURL('**/admin/users')
  assert.equal((await page.goto(pageOf('boss-dev')))?.status(), 200)
  // Not in a takeover, he is a visitor as others are: her template lets everyone in who is signed in.
  assert.equal((await page.goto(pageOf('eve-dev')))?.status(), 200)
})
