// Part of npm run test:more: `specification/groups` has the rules that the pages show.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { openTab } from '#test/support/browser.ts'
import { startGroupBerth } from '#test/support/group-berth.ts'
import { violations } from '#test/stories/accessibility-checks.ts'

/** An administrator prepares a course before the term: limits, a class list from a file, hours; then looks at it on a phone, in German. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const { berth, boss, signUp } = await startGroupBerth({ after }, { webDir })
for (const name of ['ann', 'ben']) await signUp(`${name}@x.org`)
const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl
await page.context().addCookies([{ name: 'spawner_token', value: boss.token, url, httpOnly: true }])
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const dialog = page.locator('dialog[open]')
const pressIn = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
const groups = async () => (await boss.call('GET', '/api/admin/groups')).body.groups

test('a course with limits for each member is made, and its limits are changed', async () => {
  await page.goto(`${url}/admin/groups`)
  await press('New group')
  await dialog.getByLabel('Name', { exact: true }).fill('Physics 7b')
  await dialog.getByLabel('Every type').uncheck()
  await dialog.getByLabel('lab', { exact: true }).check()
  await dialog.getByLabel('Containers at once').fill('2')
  await dialog.getByLabel('Memory in GiB').fill('4')
  assert.deepEqual(await violations(page), [])
  await pressIn('Create group')
  await press('Edit the group Physics 7b')
  await dialog.getByLabel('Cores').fill('two')
  await pressIn('Save')
  await dialog.getByText('Cores: enter 0 or a larger number.').waitFor()
  const cores = dialog.locator('[name=cpus]:focus')
  assert.equal(await cores.getAttribute('aria-invalid'), 'true')
  // Meanwhile a manager ends the group, which a change of its limits undid.
  const [{ id }] = await groups()
  await boss.call('POST', `/api/groups/${id}/end`)
  await cores.fill('1.5')
  await pressIn('Save')
  await dialog.waitFor({ state: 'detached' })
  const [made] = await groups()
  assert.deepEqual(made.types, ['lab'])
  assert.deepEqual(made.limits, { running: 2, memory: 4 * 1024 ** 3, cpus: 1.5, gpus: null, disk: null })
  assert.ok(Date.parse(made.expires_at) <= Date.now())
  await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null })
})

test('the class list of a spreadsheet is checked first, and then joins or is invited', async () => {
  await page.getByRole('link', { name: 'Members of Physics 7b' }).click()
  await press('Add members')
  const withoutAddress = Array.from({ length: 60 }, (_, at) => `Pupil ${at + 6};;7b`).join('\n')
  const list = `Name;E-Mail;Klasse\nAnn;ann@x.org;7b\n"Ben, B.";ben@x.org;7b\nCem;cem@x.org;7b\nDora;;7b\n${withoutAddress}`
  const file = { name: 'class.csv', mimeType: 'text/csv', buffer: Buffer.from(list) }
  await dialog.getByLabel('Or a file (CSV)').setInputFiles(file)
  await pressIn('Check first')
  await dialog.getByText('2 users have an account and join at once.').waitFor()
  await dialog.getByText('One address gets an invitation by mail.').waitFor()
  await dialog.getByText('Line 5: Dora;;7b').waitFor()
  assert.equal(await dialog.getByRole('region').getByRole('listitem').count(), 61)
  assert.deepEqual(await violations(page), [])
  await pressIn('Add')
  await dialog.getByText('2 users are members now.').waitFor()
  await pressIn('Close')
  await page.getByText('2 members').first().waitFor()
  const invited = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Cem', exact: true }) })
  await invited.getByText('cem@x.org', { exact: true }).waitFor()
  assert.match(berth.mails.find(({ to }) => to === 'cem@x.org')?.subject ?? '', /Physics 7b/)
})

test('hours are set: a lesson of every week, a stop at night, a day without', async () => {
  await press('Hours')
  // Not saved by its button: "Saved." stood beneath a time that was lost.
  await dialog.getByLabel('Stop every day at').fill('22:00')
  await dialog.getByLabel('Tue', { exact: true }).check()
  await dialog.getByLabel('Begins at').fill('08:00')
  await pressIn('Add lesson')
  await dialog.getByText('Tue 08:00: lab', { exact: true }).waitFor()
  await dialog.getByLabel('Day', { exact: true }).fill('2026-12-24')
  await pressIn('Add exception')
  await dialog.getByRole('button', { name: /2026: no lesson$/ }).waitFor()
  assert.deepEqual(await violations(page), [])
  const [{ id }] = await groups()
  const { timetable } = (await boss.call('GET', `/api/groups/${id}/timetable`)).body
  assert.equal(timetable.stop_at, '22:00')
  assert.deepEqual(timetable.lessons, [{ days: [2], at: '08:00', container_type: 'lab' }])
  assert.deepEqual(timetable.exceptions, [{ date: '2026-12-24', lessons: [], stops: true }])
  await dialog.getByText('Saved.').waitFor()
  await dialog.getByLabel('Time zone').selectOption('Europe/Berlin')
  await dialog.getByText('Saved.').waitFor({ state: 'detached' })
  await pressIn('Close')
  await dialog.waitFor({ state: 'detached' })
  const stored = (await boss.call('GET', `/api/groups/${id}/timetable`)).body.timetable
  assert.deepEqual(stored, { ...timetable, time_zone: 'Europe/Berlin' })

  // A time of which a part is deleted has no value, and was stored as "no stop".
  await press('Hours')
  const stop = dialog.getByLabel('Stop every day at')
  await stop.press('Backspace')
  await pressIn('Close')
  await dialog.waitFor()
  assert.deepEqual((await boss.call('GET', `/api/groups/${id}/timetable`)).body.timetable, stored)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('a lesson is dragged to another day and time of the week, and a press on a free time fills in the form', async () => {
  await press('Hours')
  const grid = dialog.locator('.hour-grid')
  await grid.locator('.hour-lesson').scrollIntoViewIfNeeded()
  const [week, lesson] = [await grid.boundingBox(), await grid.locator('.hour-lesson').boundingBox()]
  assert.ok(week && lesson)
  // From 7 until after the stop at 22.
  const [day, hour] = [week.width / 7, week.height / 16]
  await page.mouse.move(lesson.x + 10, lesson.y + 12)
  await page.mouse.down()
  await page.mouse.move(lesson.x + 10 + day, lesson.y + 12 + 2 * hour, { steps: 5 })
  await page.mouse.up()
  await dialog.getByText('Wed 10:00: lab', { exact: true }).waitFor()
  const [{ id }] = await groups()
  const { lessons } = (await boss.call('GET', `/api/groups/${id}/timetable`)).body.timetable
  assert.deepEqual(lessons, [{ days: [3], at: '10:00', container_type: 'lab' }])
  await page.mouse.click(week.x + 4.5 * day, week.y + 4 * hour)
  assert.equal(await dialog.getByLabel('Begins at').inputValue(), '11:00')
  assert.ok(await dialog.getByLabel('Fri', { exact: true }).isChecked())
  assert.ok(!(await dialog.getByLabel('Wed', { exact: true }).isChecked()))
  await pressIn('Close')
  await dialog.waitFor({ state: 'detached' })
})

test('the pages fit a phone in German, and axe finds nothing', async () => {
  await page.setViewportSize({ width: 390, height: 800 })
  await press('Deutsch')
  await page.getByText('2 Mitglieder').waitFor()
  const fits = async () => {
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
    assert.deepEqual(await violations(page), [])
  }
  await fits()
  await press('Zeiten')
  await dialog.getByRole('button', { name: /2026: keine Stunde entfernen$/ }).waitFor()
  await fits()
  await pressIn('Schließen')
  await page.goto(`${url}/admin/groups`)
  await page.getByRole('heading', { name: 'Physics 7b' }).waitFor()
  await fits()
  assert.deepEqual(problems, [])
})
