import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate, tryHere } from './support/catalogue.ts'
import { runApp, takePicture } from './support/run-app.ts'

const image = await appImage('static-site', async () => undefined)
const app = await runApp({ after }, image, { 'static-site': catalogueTemplate('static-site') })
const { page } = app

test('the first start makes a page, and another file of the home is served beside it', async () => {
  const { home, traffic, shell } = await app.open('static-site')
  await page.getByRole('heading', { name: 'New site' }).waitFor()
  await shell(`mkdir /site/about && echo '<h1>About</h1><a href="../">Back</a>' > /site/about/index.html`)
  await page.goto(`${home}about/`)
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByRole('heading', { name: 'New site' }).waitFor()
  await takePicture(page, 'static-site')
  assert.deepEqual(traffic.outside, [])
})

test('berth templates try finds nothing that breaks', async () => {
  assert.deepEqual(await tryHere('static-site', image), { works: true, findings: [] })
})
