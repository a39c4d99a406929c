// Part of npm run test:more: a browser; takeover-in-browser.test.ts has the answers that it relies on.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { waitLimit } from '#test/support/extent.ts'
import { t as said } from '#test/support/front-end-text.ts'

/**
 * Eve asks an administrator for help, who acts for her in his browser. Her app waits for that: whatever it leaves in that
 * browser, a page or a worker, would go on with the administrator's own cookies when the takeover is over. It did: a
 * service worker that her page registered wrote into the administrator's own container.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const app = `
echo '<!doctype html><title>An app</title><script>document.body.dataset.ran = "yes"</script>' > page.html
echo 'the secret of who owns this' > secret.txt
echo "addEventListener('fetch', (event) => event.respondWith(new Response('hijacked')))" > worker.js
exec httpd -f -p 8080 -h /home/berth`
const image = await testImage()
const type = (more: object) => ({ image, port: 8080, memory: '64m', command: ['/bin/sh', '-c', app], ...more })
const templates = {
  dev: type({ display_name: 'Development' }),
  // An operator who trusts all: so the administrator's browser can have met Eve's worker before.
  open: type({ display_name: 'Open', access: 'public', sandbox_visitors: false }),
}
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
await berth.administrator()
const eve = await berth.signUp('eve@x.org')
assertOk(await eve.call('POST', '/api/container/launch/open'))
const { page } = await openTab({ after })
const origin = berth.app.spawnerUrl

const scopes = () =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope))
const register = () =>
  page.evaluate(() =>
    navigator.serviceWorker.register('worker.js').then(
      () => 'registered',
      (error: Error) => error.message,
    ),
  )

test('the administrator signs in, and has met a worker of Eve’s before', async () => {
  await page.goto(`${origin}/verify-login?token=${await tokenBy(berth, 'login', 'boss@x.org')}`)
  await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
  await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
  await page.goto(`${origin}/eve-open/`)
  assert.equal(await register(), 'registered')
  assert.deepEqual(await scopes(), [`${origin}/eve-open/`])
})

test('acting for Eve begins without any worker in the browser', async () => {
  await page.goto(`${origin}/admin/users`)
  await page.getByRole('button', { name: said('admin.table.actionsOf', { name: 'eve@x.org' }) }).click()
  await page.getByRole('menuitem', { name: said('admin.users.actions.takeOver') }).click()
  await page.getByLabel(said('admin.users.takeOver.reason')).fill('Her editor hangs')
  await page.getByRole('button', { name: said('admin.users.takeOver.confirm'), exact: true }).click()
  await page.getByRole('region', { name: said('takeover.label') }).waitFor()
  await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0)
})

test('her container opens no page in it, in no window and no frame, and says why', async () => {
  const answer = await page.goto(`${origin}/eve-dev/page.html`)
  assert.equal(answer?.status(), 403)
  const text = (await page.textContent('body')) ?? ''
  assert.match(text, /While you act for another user, their containers do not open in your browser/)
  assert.equal(await page.evaluate(() => document.body.dataset['ran']), undefined)
  await page.goto(`${origin}/eve-open/page.html`)
  assert.equal(await page.evaluate(() => self.origin), 'null')
})

test('no worker is registered while acting, whichever page tries', async () => {
  await page.goto(`${origin}/`)
  await page.getByRole('region', { name: said('takeover.label') }).waitFor()
  const tried = await page.evaluate(async (limit) => {
    const attempt = async (work: () => unknown) => {
      try {
        await work()
        return 'registered'
      } catch (error) {
        return (error as Error).message
      }
    }
    const shared = (script: string) =>
      new Promise((resolve, reject) => {
        const worker = new SharedWorker(script)
        worker.addEventListener('error', () => reject(new Error('refused')))
        setTimeout(resolve, limit)
      })
    return [
      await attempt(() => navigator.serviceWorker.register('/eve-dev/worker.js', { scope: '/eve-dev/' })),
      await attempt(() => navigator.serviceWorker.register('/eve-open/worker.js', { scope: '/eve-open/' })),
      await attempt(() => shared('/eve-dev/worker.js')),
    ]
  }, waitLimit(5_000))
  assert.ok(!tried.includes('registered'), tried.join('\n'))
  assert.deepEqual(await scopes(), [])
})

test('when it is over, nothing of hers is left in the browser, and its owner has their own', async () => {
  await page.getByRole('button', { name: said('takeover.end'), exact: true }).click()
  await page.waitForURL('**/admin/users')
  await page.goto(`${origin}/boss-dev/secret.txt`)
  assert.match((await page.textContent('body')) ?? '', /the secret/)
  assert.deepEqual(await scopes(), [])
})
