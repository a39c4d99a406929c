import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate, tryHere } from './support/catalogue.ts'
import { installPackages } from './support/install-npm-packages.ts'
import { runApp, takePicture } from './support/run-app.ts'

// Its packages for other machines are named by the lock file, and not all of them are there.
const image = await appImage('nextjs', (folder) => installPackages(folder, 'install'))
const app = await runApp({ after }, image, { nextjs: catalogueTemplate('nextjs') })
const { page } = app
const { prefix, traffic, shell } = await app.open('nextjs')
const heading = (text: string) => page.getByRole('heading', { name: text }).waitFor()

test('the first start makes a project, and its page comes from below the prefix', async () => {
  await heading('Hello')
  // The prefix itself: Next.js leads there from the address with a slash.
  assert.deepEqual(traffic.outside, [`GET ${prefix}`])
  assert.deepEqual(traffic.failed, [])
})

test('editing the page shows the new words without a reload, by a socket below the prefix', async () => {
  await page.evaluate('window.wasNotReloaded = true')
  await shell('sed -i s/Hello/Changed/ ~/project/app/page.js')
  await heading('Changed')
  assert.equal(await page.evaluate('window.wasNotReloaded'), true)
  await takePicture(page, 'nextjs')
  assert.deepEqual([...new Set(traffic.sockets.map(({ path }) => path))], [`${prefix}/_next/hmr`])
  // The second is asked for by its development tools, as soon as they have time.
  const known = [`GET ${prefix}`, 'GET /__nextjs_font/geist-latin.woff2']
  assert.deepEqual(
    traffic.outside.filter((request) => !known.includes(request)),
    [],
  )
})

test('berth templates try finds nothing that breaks, but at times a font of the development tools', async () => {
  const font = '/__nextjs_font/geist-latin.woff2 is outside of the prefix (404)'
  const { findings } = await tryHere('nextjs', image)
  assert.deepEqual(
    findings.filter(({ what }) => what !== font),
    [],
  )
})
