// Part of npm run test:more: a browser; specification/sessions/api-tokens has the rules of the page.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { t as said } from '#test/support/front-end-text.ts'

/** A user makes an API token on its page, a program uses it, and user and administrator remove tokens. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const berth = await startBerth({ after }, { webDir, wrapRuntime: noCreateRuntime })
const boss = await berth.signUpWithoutContainer('boss@x.org')
const ann = await berth.signUpWithoutContainer('ann@x.org')
const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl
const signInAs = (token: string) =>
  page.context().addCookies([{ name: 'spawner_token', value: token, url, httpOnly: true }])

let token = ''

test('a user makes a token on the page, which shows it once, and a program uses it', async () => {
  await signInAs(ann.token)
  await page.goto(url)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('link', { name: said('frame.nav.tokens') }).click()
  await page.getByText(said('tokens.none')).waitFor()
  await page.getByLabel(said('tokens.create.name')).fill('Backup')
  await page.getByLabel('containers:write').check()
  assert.equal(await page.getByLabel('admin:read').count(), 0)
  await page.getByRole('button', { name: said('tokens.create.button') }).click()
  await page.getByRole('heading', { name: said('tokens.fresh.title') }).waitFor()
  token = (await page.locator('.created-token code').textContent()) ?? ''
  assert.match(token, /^berth_[\w-]{43}$/)
  const { tokens } = (await ann.call('GET', '/api/user/tokens')).body
  assert.deepEqual(tokens[0].scopes, ['containers:read', 'containers:write'])
  assertOk(await berth.call('GET', '/api/user/me', { token }))
})

test('after a reload the token is on the page no more, and nothing of it is left in the browser', async () => {
  await page.reload()
  await page.getByRole('heading', { name: 'Backup' }).waitFor()
  const left = await page.evaluate(() =>
    JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }, history.state]),
  )
  assert.ok(!left.includes(token))
  assert.match(left, /last used/)
})

test('a removed token leaves the list and is refused', async () => {
  await page.getByRole('button', { name: said('tokens.removeThis', { name: 'Backup' }) }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: said('tokens.remove') })
    .click()
  await page.getByText(said('tokens.none')).waitFor()
  assertRefused(await berth.call('GET', '/api/user/me', { token }), 401)
})

test('the page leads to the API reference, whose list leads to an endpoint with its examples', async () => {
  await page.getByRole('link', { name: 'API reference' }).click()
  await page.locator('a[href="#launchContainer"]').click()
  const endpoint = page.locator('article#launchContainer')
  await endpoint.getByText('containers:write', { exact: true }).waitFor()
  await endpoint.getByText("api.launchContainer({ params: { container_type: 'dev' } })").waitFor()
  assert.match((await endpoint.locator('pre').first().textContent()) ?? '', /--header @berth-token/)
})

test("an administrator finds a user's tokens by address and removes one", async () => {
  const body = { name: 'Grading', scopes: ['containers:read'], expires_in: 3_600 }
  const made = (await ann.call('POST', '/api/user/tokens', { body })).body
  assertOk(await boss.call('POST', '/api/user/tokens', { body: { ...body, name: 'Mine' } }))
  await signInAs(boss.token)
  await page.goto(`${url}/admin/tokens`)
  await page.getByRole('heading', { name: 'Mine' }).waitFor()
  await page.getByLabel(said('admin.tokens.filter.user')).fill('ann@x.org')
  await page.getByRole('button', { name: said('admin.tokens.filter.show') }).click()
  await page.getByRole('heading', { name: 'Mine' }).waitFor({ state: 'detached' })
  await page
    .getByRole('button', { name: said('admin.tokens.remove.openThis', { name: 'Grading', email: 'ann@x.org' }) })
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: said('admin.tokens.remove.confirm') })
    .click()
  await page.getByText(said('admin.tokens.noneOf')).waitFor()
  assertRefused(await berth.call('GET', '/api/user/me', { token: made.token }), 401)
  assert.deepEqual(problems, [])
})
