// Part of npm run test:long: two starts of Berth and a browser.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { tokenBy, until } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { freePort } from '#test/support/free-port.ts'

/**
 * An app registers a service worker while all containers share one origin, and the operator gives containers hosts of their
 * own afterwards. The worker would go on answering the container's old address, because its script is redirected from then on,
 * which a browser takes for an update that failed.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const app = `
echo '<!doctype html><title>An app</title>' > page.html
echo "addEventListener('fetch', (event) => event.respondWith(new Response('by the worker')))" > worker.js
exec httpd -f -p 8080 -h /home/berth`
const env = {
  PORT: String(await freePort()),
  CONTAINER_TEMPLATES: await testTemplates({ command: ['/bin/sh', '-c', app] }),
  MAGIC_LINK_RATE_LIMIT: '20',
}
const shared = await startBerth({ after }, { webDir, env })
const front = shared.app.spawnerUrl
await shared.signUp('ann@x.org')
const { page } = await openTab({ after })

async function signIn(berth: typeof shared): Promise<void> {
  await page.goto(`${front}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
}
const textAt = async (address: string) => (await page.goto(address))?.text()
const workers = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)

test('with one origin the worker answers for its own container', async () => {
  await signIn(shared)
  await page.goto(`${front}/ann-dev/`)
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/ann-dev/worker.js', { scope: '/ann-dev/' })
    await navigator.serviceWorker.ready
  })
  assert.equal(await textAt(`${front}/ann-dev/`), 'by the worker')
  await page.goto(front)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  assert.equal(await workers(), 1)
})

test('after the change to hosts the dashboard ends it, and the old address leads to the container', async () => {
  await shared.close()
  const hosts = { ...env, CONTAINER_ROUTING: 'subdomain' }
  const { dataDir, installation } = shared
  const berth = await startBerth({ after }, { webDir, env: hosts, dataDir, installation })
  assert.equal(berth.app.spawnerUrl, front)
  assert.equal(await textAt(`${front}/ann-dev/`), 'by the worker')
  await page.goto(front)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0)
  // The container of before the restart may be started for this visit, which a page tells until then.
  await until(async () => {
    await page.goto(`${front}/ann-dev/page.html`)
    return (await page.title()) === 'An app'
  })
  assert.equal(new URL(page.url()).origin, berth.app.containerOrigin?.('ann-dev'))
})
