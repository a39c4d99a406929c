// Part of npm run test:more: `specification/containers/shared-homes` has the rules; this is the page "Your data".
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { homesOf } from '#test/support/engine/homes.ts'
import { waitFor } from '#test/support/program.ts'

const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const ends: (() => Promise<void>)[] = []
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})

const settings = async (fields: object) => {
  const base = { image: await testImage(), port: 8080, memory: '64m', ...fields }
  const types = { notebook: { ...base, display_name: 'Notebook' }, editor: { ...base, display_name: 'Editor' } }
  return { CONTAINER_TEMPLATES: JSON.stringify(types) }
}

test('the page has the home that types share and the former one, which is downloaded and then removed', async () => {
  let berth = await startBerth(lifetime, { webDir, env: await settings({}) })
  await berth.administrator()
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  for (const type of ['notebook', 'editor']) {
    const launched = await ann.call('POST', `/api/container/launch/${type}`)
    assertOk(launched)
    await execInContainer(launched.body.container_id, `echo of-the-${type} > /home/berth/file`)
    assertOk(await ann.call('POST', `/api/container/stop/${type}`))
  }
  await berth.close()
  const { dataDir, installation } = berth
  berth = await startBerth(lifetime, { webDir, dataDir, installation, env: await settings({ home_of: 'user' }) })
  // From now on its container has the shared home.
  for (const type of ['notebook', 'editor'])
    assertOk(await berth.call('POST', `/api/container/launch/${type}`, { token: ann.token }))

  const { page, problems } = await openTab(lifetime)
  const cookie = { name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }
  await page.context().addCookies([cookie])
  await page.goto(`${berth.app.frontendUrl}/account/data`)
  const row = (text: RegExp) =>
    page.getByRole('region', { name: 'Homes' }).getByRole('listitem').filter({ hasText: text })
  const [shared, former] = [row(/^Home of Notebook and Editor/), row(/^Former home of Editor/)]
  await shared.waitFor()
  assert.equal(await shared.getByRole('button', { name: 'Remove' }).count(), 0)
  for (const [home, words] of [
    [shared, 'of-the-notebook'],
    [former, 'of-the-editor'],
  ] as const) {
    const downloading = page.waitForEvent('download')
    await home.getByRole('button', { name: 'Download' }).click()
    const file = await (await downloading).path()
    assert.ok(gunzipSync(readFileSync(file)).includes(words), words)
  }
  assert.equal((await homesOf(berth, ann.id)).length, 2)
  await former.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog', { name: 'Remove this home?' }).getByRole('button', { name: 'Remove' }).click()
  await former.waitFor({ state: 'detached' })
  await waitFor('the removal', async () => (await homesOf(berth, ann.id)).length === 1)
  assert.deepEqual(problems, [])
})
