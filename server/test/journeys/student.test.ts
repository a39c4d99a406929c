// Part of npm run test:more: `specification/groups` has the rules that the pages show.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertOk } from '#test/support/api-calls.ts'
import { openTab } from '#test/support/browser.ts'
import { startGroupBerth } from '#test/support/group-berth.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { visitContainer } from '#test/support/routing.ts'
import { violations } from '#test/stories/accessibility-checks.ts'

/** A student of two courses, on a phone: what each course brings, what its teacher does, and what the end of one leaves of the other. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const template = { image: 'nowhere:latest', port: 8080 }
const templates = {
  dev: { ...template, display_name: 'Development' },
  lab: { ...template, display_name: 'Physics lab', groups: ['Physics 7b'] },
  studio: { ...template, display_name: 'Art studio', groups: ['Art 8'] },
}
const { berth, engine, signUp, group, launch } = await startGroupBerth(
  { after },
  { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates), SHARING: 'groups' } },
)
const [tom, ines, ann] = [await signUp('tom@x.org'), await signUp('ines@x.org'), await signUp('ann@x.org')]
const physics = await group({ name: 'Physics 7b', types: ['lab'] }, [ann], [tom])
const art = await group({ name: 'Art 8', types: ['studio'] }, [], [ines])
const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl
await page.setViewportSize({ width: 390, height: 800 })
await page.context().addCookies([{ name: 'spawner_token', value: ann.token, url, httpOnly: true }])
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const card = (name: string) => page.getByRole('article', { name })

test('a student sees the types of their course and of no other one', async () => {
  await page.goto(url)
  await card('Physics lab').waitFor()
  await card('Development').waitFor()
  assert.equal(await card('Art studio').count(), 0)
})

// Screen readers were told that it was running: the error had gone with the outage, and nothing else was left of the launch.
test('a launch that never left the device is not called done once the device is online again', async () => {
  await page.context().setOffline(true)
  await press('Launch Physics lab')
  await card('Physics lab').getByText('Berth cannot be reached').waitFor()
  await page.context().setOffline(false)
  await card('Physics lab').getByText('Berth cannot be reached').waitFor({ state: 'detached' })
  await page.getByText('This device is offline').waitFor({ state: 'detached' })
  assert.equal(await page.getByText('Physics lab is running.').count(), 0)
})

test('with the link of a join code, in German, they are in the second course, too, and see its type', async () => {
  const { code } = (await ines.call('POST', `/api/groups/${art.id}/join-code`)).body
  await page.goto(`${url}/groups?code=${code}`)
  await press('Deutsch')
  await press('Beitreten')
  await page.getByText('Du bist jetzt Mitglied von Art 8.').waitFor()
  await page.getByRole('heading', { name: 'Art 8' }).waitFor()
  await fits(page)
  await page.goto(url)
  await card('Art studio').waitFor()
  await card('Physics lab').waitFor()
  await fits(page)
})

test('a stop by the teacher of one course stops its container, as the open page shows, and not that of the other one', async () => {
  for (const type of ['lab', 'studio']) assertOk(await launch(ann, type))
  for (const name of ['Physics lab', 'Art studio']) await card(name).getByText('Läuft', { exact: true }).waitFor()
  assertOk(await ines.call('POST', `/api/groups/${art.id}/stop`))
  await card('Art studio').getByText('Gestoppt', { exact: true }).waitFor()
  await card('Physics lab').getByText('Läuft', { exact: true }).waitFor()
})

test('a course that ends takes its container with it, and its card says so; the other course goes on', async () => {
  assertOk(await launch(ann, 'studio'))
  await card('Art studio').getByText('Läuft', { exact: true }).waitFor()
  assertOk(await ines.call('POST', `/api/groups/${art.id}/end`))
  await card('Art studio').getByText('Gestoppt', { exact: true }).waitFor({ timeout: 30_000 })
  await card('Art studio').getByText('Die Gruppe Art 8 ist beendet').waitFor()
  assert.deepEqual(
    engine.running.filter((each) => each.endsWith(` of ${ann.id}`)).map((each) => each.split(' ')[0]),
    ['dev', 'lab'],
  )
  await fits(page)
})

/** It came above the cards and moved them by a quarter of the screen, under the finger that was about to stop a container. */
test('"May I look?" of a teacher moves nothing, and takes no press that was meant for what it covers', async () => {
  await press('English')
  const topOf = (name: string) => card(name).evaluate((element) => element.getBoundingClientRect().top + scrollY)
  const before = await topOf('Physics lab')
  assertOk(await tom.call('POST', `/api/groups/${physics.id}/members/${ann.id}/look/lab`))
  // In the page, and as soon as it is there: a press that was under way.
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const pressWhenThere = () => {
          const button = [...document.querySelectorAll('button')].find((each) => each.textContent === 'Let them look')
          if (!button) return void requestAnimationFrame(pressWhenThere)
          button.click()
          resolve()
        }
        pressWhenThere()
      }),
  )
  await observationTime(700)
  await page.getByText('tom@x.org (Physics 7b) asks to look at Physics lab.').waitFor()
  assert.equal(await topOf('Physics lab'), before)
  await fits(page)
})

test('"May I look?", agreed to, is ended with one press', async () => {
  const ask = () => tom.call('POST', `/api/groups/${physics.id}/members/${ann.id}/look/lab`)
  await press('Let them look')
  await page.getByText('tom@x.org (Physics 7b) may look at Physics lab until').waitFor()
  // The pressed button is gone; who works with keys was at the top of the document.
  await page.locator('h1:focus').waitFor()
  await fits(page)
  const visit = () => visitContainer(berth, 'ann-lab', tom.token)
  assert.notEqual(await visit(), 403)
  await page.getByText('here now').waitFor()
  await press('End their access')
  await page.getByText('may look at').waitFor({ state: 'detached' })
  assert.equal(await visit(), 403)
  assertOk(await ask())
  await page.getByText('asks to look at').waitFor()
  // A press within half a second was meant for what the question covers.
  await observationTime(500)
  await press('Decline')
  await page.getByText('asks to look at').waitFor({ state: 'detached' })
  assert.equal((await ask()).status, 429)
  assert.deepEqual(
    problems.filter((problem) => !/403|INTERNET_DISCONNECTED/.test(problem)),
    [],
  )
})

// Groups and sharing were small links below the cards alone, and "tell them the address" named none.
test('the menu of the account leads to groups and sharing, and what is shared is named with its address', async () => {
  const goTo = async (name: string, heading: string) => {
    await page.locator('.account-button').click()
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click()
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }
  await goTo('Groups and join codes', 'Groups')
  await goTo('Share a container', 'Shared containers')
  await press('Share Physics lab')
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${berth.app.spawnerUrl}/ann-lab`).waitFor()
  await dialog.getByRole('button', { name: 'Copy', exact: true }).waitFor()
})

/** Nothing is cut off at the width of a phone, and axe finds nothing. */
async function fits(of: Page): Promise<void> {
  assert.ok((await of.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  assert.deepEqual(await violations(of), [])
}
