import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate, tryHere } from './support/catalogue.ts'
import { installDebianPackages } from './support/install-debian-packages.ts'
import { runApp, takePicture } from './support/run-app.ts'

const system = ['base-files', 'libc-bin', 'dash', 'coreutils', 'grep', 'sed']
const image = await appImage('postgres-admin', (folder) =>
  installDebianPackages(folder, [...system, 'adminer', 'php-cli', 'php-pgsql', 'postgresql'], 'trixie'),
)
const app = await runApp({ after }, image, {
  'postgres-admin': { ...catalogueTemplate('postgres-admin'), memory: '512m' },
})
const { page, context } = app
const { traffic, home } = await app.open('postgres-admin', '?pgsql=')

test('the page of the sign-in has PostgreSQL chosen, and everything comes from below the prefix', async () => {
  assert.equal(await page.locator('[name="auth[driver]"]').inputValue(), 'pgsql')
  assert.deepEqual(traffic.outside, [])
})

test('a user signs in to the server, and runs a query', async () => {
  await page.locator('[name="auth[server]"]').fill('127.0.0.1')
  await page.locator('[name="auth[username]"]').fill('ann')
  await page.locator('[name="auth[password]"]').fill('secret')
  await page.locator('[name="auth[db]"]').fill('postgres')
  await page.getByRole('button', { name: 'Login' }).click()
  await page.getByRole('link', { name: 'SQL command' }).first().click()
  await page.evaluate(`document.querySelector('[name=query]').value = 'select 6 * 7 as answer'`)
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.getByRole('cell', { name: '42' }).first().waitFor()
  await takePicture(page, 'postgres-admin')
  assert.deepEqual(traffic.outside, [])
})

test('its cookies stay below the prefix', async () => {
  const cookies = (await context.cookies(home)).filter(({ name }) => !name.startsWith('spawner_'))
  assert.ok(cookies.length > 0)
  assert.ok(cookies.every(({ path }) => `${path}/`.startsWith('/ann-postgres-admin/')))
})

test('berth templates try finds nothing that breaks', async () => {
  assert.deepEqual(await tryHere('postgres-admin', image), { works: true, findings: [] })
})
