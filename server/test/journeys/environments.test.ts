// Part of npm run test:more: a browser; specification/environments has the rules that the pages show.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'
import { violations } from '#test/stories/accessibility-checks.ts'

/** A teacher makes an image for a course in the browser: from three commands to a published version, and back. */
const base = await testImage()
const usual = { port: 8080, memory: '64m', command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] }
const templates = {
  dev: { image: base, port: 8080, memory: '64m' },
  course: { environment: 'course', display_name: 'Statistics', groups: ['Statistics 1'], ...usual },
}
const { berth, boss, read } = await startEnvironmentBerth(
  { after },
  {
    webDir: path.resolve(import.meta.dirname, '../../../web/dist'),
    env: { ENVIRONMENTS: 'managers', CONTAINER_TEMPLATES: JSON.stringify(templates), BUILD_BASES: base },
  },
)
const tom = await berth.signUpWithoutContainer('tom@x.org')
const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Statistics 1' } })
assertOk(made)
const members = `/api/groups/${made.body.group.id}/members`
assertOk(await boss.call('POST', members, { body: { emails: ['tom@x.org'], role: 'manager' } }))

const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl
await page.setViewportSize({ width: 1280, height: 800 })
await page.context().addCookies([{ name: 'spawner_token', value: tom.token, url, httpOnly: true }])
const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
const pick = (name: string) => page.getByRole('menuitem', { name }).click()
const fill = (name: string, value: string) => page.getByLabel(name, { exact: true }).fill(value)
const shown = async () => (await tom.call('GET', `/${tom.slug}-course/`)).text.trim()

test('a teacher checks, builds, follows, tries and publishes an image, and goes back', async () => {
  await page.goto(`${url}/environments`)
  await press('New environment')
  await fill('Name', 'course')
  assert.equal(await page.getByLabel('Group', { exact: true }).inputValue(), String(made.body.group.id))
  await fill('Base image', 'nowhere:1')
  await fill(
    'Commands, run as root',
    'mkdir -p /www\necho one > /www/index.html\necho begun && sleep 4 && echo finished',
  )
  await press('Check')
  await page.getByText('nowhere:1 may not be used here').waitFor()
  await fill('Base image', base)
  await press('Check')
  await page.getByText(`Base images: ${base}.`).waitFor()
  assert.deepEqual(await violations(page), [])
  await press('Create')
  await press('Build the environment course')
  const log = page.getByRole('region', { name: 'Log of version 1 of course' })
  await log.getByText('begun', { exact: false }).first().waitFor()

  // The log is there again, and goes on.
  await page.reload()
  await press('Log of version 1 of course')
  await log.getByText('mkdir -p /www', { exact: false }).first().waitFor()
  await log.getByText('Successfully tagged', { exact: false }).waitFor()
  await press('More actions for version 1 of course')
  await pick('Try version 1 of course')
  const open = page.getByRole('link', { name: 'Open version 1 of course, which you try' })
  await open.waitFor()
  assert.deepEqual(await violations(page), [])
  await open.click()
  await page.getByText('one').waitFor()
  await page.goBack()
  await press('End the container that tries version 1 of course')
  await open.waitFor({ state: 'detached' })
  await press('Publish version 1 of course')
  await page.getByText('Version 1 is published').waitFor()
  assertOk(await tom.call('POST', '/api/container/launch/course'))
  assert.equal(await shown(), 'one')

  await press('More actions for course')
  await pick('Edit the environment course')
  await fill('Commands, run as root', 'mkdir -p /www\necho two > /www/index.html')
  await press('Save')
  await press('Build the environment course')
  await press('Publish version 2 of course')
  await page.getByText('Version 2 is published').waitFor()
  await page.getByText('3 lines changed').click()
  await page.getByText('+ run: echo two > /www/index.html').waitFor()
  await press('More actions for course')
  await pick('Who runs an older version of course')
  await page.getByText('1 container runs an older version.').waitFor()
  await page.getByText('tom@x.org', { exact: true }).last().waitFor()
  await press('Go back to version 1 of course')
  await page.getByText('Version 1 is published').waitFor()
  await page.getByText('No container runs an older version.').waitFor({ timeout: 30_000 })
  assert.equal((await read('course')).published, 1)
  // The check that is refused, and an application without an icon.
  const expected = /\/environment-checks$|\/favicon\.ico$/
  assert.deepEqual(
    problems.filter((each) => !expected.test(each)),
    [],
  )
})

test('the page fits a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await page.getByRole('heading', { name: 'course' }).waitFor()
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(overflow <= 0, `${overflow} px wider than the window`)
})
