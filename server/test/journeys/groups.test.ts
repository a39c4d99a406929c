// Part of npm run test:more: a second way through groups; student.test.ts and teacher.test.ts have the first.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Person } from '#test/support/berth.ts'
import { startBerth } from '#test/support/berth.ts'
import { isFirefox, openTab } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'

/** An administrator makes a group, its manager shows a join code, and a user joins by it, on a phone and in German. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const env = {
  CONTAINER_TEMPLATES: JSON.stringify({
    dev: { image: 'nowhere', display_name: 'Development' },
    lab: { image: 'nowhere', display_name: 'Physics lab', groups: ['Physics 7b'] },
  }),
  SHARING: 'people',
}
const berth = await startBerth({ after }, { webDir, wrapRuntime: noCreateRuntime, env })
const boss = await berth.signUp('boss@x.org')
const tom = await berth.signUp('tom@x.org')
const ann = await berth.signUp('ann@x.org')
const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl

async function signInAs({ token }: Person, at: string): Promise<void> {
  // The page of the user before would go on to ask for what this one may not read.
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.context().addCookies([{ name: 'spawner_token', value: token, url, httpOnly: true }])
  await page.goto(url + at)
}
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()

let code = ''

test('while there is no group, no page of users says a word of groups', async () => {
  await signInAs(ann, '/')
  await page.getByRole('heading', { name: 'Development' }).waitFor()
  assert.ok(!/group/i.test(await page.locator('main').innerText()))
})

test('an administrator makes a group with a limit, and adds its manager', async () => {
  await signInAs(boss, '/admin/groups')
  await press('New group')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create group' }).click()
  await dialog.getByText('Enter a name.').waitFor()
  await dialog.getByLabel('Name', { exact: true }).fill('Physics 7b')
  await dialog.getByLabel('Containers at once').fill('1')
  await dialog.getByRole('button', { name: 'Create group' }).click()
  await page.getByRole('heading', { name: 'Physics 7b' }).waitFor()
  await page.getByRole('link', { name: 'Members of Physics 7b' }).click()
  await press('Add members')
  await dialog.getByLabel('E-mail addresses').fill('tom@x.org\nnonsense')
  await dialog.getByLabel('Role').selectOption('manager')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('One user is a member now.').waitFor()
  await dialog.getByText('Line 2: nonsense').waitFor()
  const { groups } = (await tom.call('GET', '/api/groups')).body
  assert.deepEqual([groups[0].name, groups[0].role], ['Physics 7b', 'manager'])
})

test('the manager finds the group below the containers, and makes a join code', async () => {
  await signInAs(tom, '/')
  await page.getByRole('link', { name: 'Physics 7b' }).click()
  await page.getByRole('heading', { name: 'Group Physics 7b' }).waitFor()
  await press('Join code')
  await page.getByRole('dialog').getByRole('button', { name: 'Create a new code' }).click()
  code = (await page.locator('.join-code').textContent()) ?? ''
  assert.match(code, /^[A-Z2-9]{5}-[A-Z2-9]{5}$/)
  // While the class enters the code, the first press at hand must not replace it.
  assert.equal(await page.getByRole('dialog').locator('.button.primary').textContent(), 'Copy')
  await page.locator('.button.primary:focus', { hasText: 'Copy' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
})

test('the menu of the account leads to groups and sharing', async () => {
  await page.getByRole('button', { name: 'Account' }).click()
  for (const name of ['Groups and join codes', 'Share a container'])
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).waitFor()
  await page.keyboard.press('Escape')
})

test('an invitation that the manager withdraws is said to be, and leaves the focus beside it', async () => {
  await press('Add members')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail addresses').fill('late@x.org')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('One address was invited.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await press('Withdraw the invitation of late@x.org')
  await dialog.getByText('The account is kept, but not in this group.').waitFor()
  await dialog.getByRole('button', { name: 'Withdraw' }).click()
  await page.locator('[role=status]:focus', { hasText: 'The invitation is withdrawn.' }).waitFor()
  await page.getByRole('heading', { name: 'late@x.org' }).waitFor({ state: 'detached' })
})

// It was that of the server, and lessons began hours too early or too late.
test('hours are first in the time zone of the browser', { skip: isFirefox && 'of Chromium' }, async () => {
  const chromium = await page.context().newCDPSession(page)
  await chromium.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Auckland' })
  await page.reload()
  await press('Hours')
  const dialog = page.getByRole('dialog', { name: 'Hours' })
  assert.equal(await dialog.getByLabel('Time zone').inputValue(), 'Pacific/Auckland')
  await dialog.getByRole('button', { name: 'Close' }).click()
})

test('the manager sets when containers stop, reads that it is stored, and is asked before all hours go', async () => {
  await press('Hours')
  const dialog = page.getByRole('dialog', { name: 'Hours' })
  await dialog.getByLabel('Stop every day at').fill('22:00')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Saved.').waitFor()
  await dialog.getByRole('button', { name: 'Remove all hours' }).click()
  const question = page.getByRole('dialog', { name: 'Remove all hours?' })
  await question.getByRole('button', { name: 'Remove all hours' }).click()
  await dialog.getByText('Saved.').waitFor()
  assert.equal(await dialog.getByLabel('Stop every day at').inputValue(), '')
  // The button is gone, and the focus is still in the dialog.
  assert.equal(await dialog.evaluate((element) => element.contains(document.activeElement)), true)
  await dialog.getByRole('button', { name: 'Close' }).click()
})

test('a user on a phone joins by the code in German, and then sees the type of the group', async () => {
  await page.setViewportSize({ width: 390, height: 800 })
  await signInAs(ann, '/groups')
  await press('Deutsch')
  await page.getByLabel('Beitrittscode').fill(code.toLowerCase())
  await press('Beitreten')
  await page.getByText('Du bist jetzt Mitglied von Physics 7b.').waitFor()
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  await page.goto(url)
  await page.getByRole('heading', { name: 'Physics lab' }).waitFor()
})

test('the manager sees the member, and removes them after a question', async () => {
  await signInAs(tom, '/groups')
  await page.getByRole('link', { name: 'Members and containers of Physics 7b' }).click()
  await page.getByRole('rowheader', { name: 'ann@x.org' }).getByRole('button').click()
  await page.getByRole('button', { name: 'Remove ann@x.org from the group' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('rowheader', { name: 'ann@x.org' }).waitFor({ state: 'detached' })
  assert.deepEqual((await ann.call('GET', '/api/groups')).body.groups, [])
  assert.deepEqual(problems, [])
})
