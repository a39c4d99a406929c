// Part of npm run test:more: `gateway/headers` has the limits of heads; this is a browser that meets them.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { tokenBy, until } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'

/**
 * A container's page shares the front end's origin, and may set cookies for all of it. Six large ones made every page of
 * Berth, and the sign-out, answer 431 to that browser for as long as the cookies lived.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const templates = await testTemplates({
  command: ['/bin/sh', '-c', 'echo "<title>An app</title>" > index.html; exec httpd -f -p 8080 -h /home/berth'],
})
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: templates } })
await berth.signUp('ann@x.org')
const { page } = await openTab({ after })
const origin = berth.app.spawnerUrl

const bombs = async () => (await page.context().cookies()).filter(({ name }) => name.startsWith('bomb')).length
/** Resolves when the browser would send them: it stores a script's cookies a moment after the script. */
async function setCookies(count: number): Promise<void> {
  await page.evaluate((many) => {
    for (let at = 0; at < many; at++) document.cookie = `bomb${at}=${'x'.repeat(4_000)}; path=/`
  }, count)
  await until(async () => (await bombs()) === count)
}
const statusOf = async (at: string) => (await page.goto(origin + at))?.status()
const email = () => page.evaluate(async () => (await (await fetch('/api/user/me')).json()).user?.email ?? null)

test('six large cookies of a container’s page do not lock its user out of Berth', async () => {
  await page.goto(`${origin}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  assert.equal(await statusOf('/ann-dev/'), 200)
  await setCookies(6)
  for (const at of ['/', '/login', '/api/user/me']) assert.equal(await statusOf(at), 200, at)
})

test('of so many that nothing can be answered the largest go with the first refusal, and the person stays signed in', async () => {
  await page.goto(`${origin}/ann-dev/`)
  await setCookies(12)
  assert.equal(await statusOf('/'), 431)
  await page.getByText('load the page again').waitFor()
  assert.equal(await statusOf('/'), 200)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  assert.equal(await email(), 'ann@x.org')
  assert.ok((await bombs()) <= 7)
})
