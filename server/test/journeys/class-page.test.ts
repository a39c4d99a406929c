// Part of npm run test:more: how the page of a group behaves under hands and keys; teacher.test.ts has what it does.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { openTab } from '#test/support/browser.ts'
import { openStream } from '#test/support/event-stream.ts'
import { openLink, startGroupBerth } from '#test/support/group-berth.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { violations } from '#test/stories/accessibility-checks.ts'

/** The page of a group while a class works, as who uses it with a phone, with keys or with a screen reader meets it. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const template = { image: 'nowhere:latest', port: 8080, memory: '16m' }
const templates = {
  dev: template,
  lab: { ...template, display_name: 'Physics lab', groups: ['Physics 7b'] },
  sim: { ...template, display_name: 'Simulation', groups: ['Physics 7b'] },
}
const { berth, engine, boss, signUp, group, launch } = await startGroupBerth(
  { after },
  { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates), SHARING: 'groups' } },
)
const tom = await signUp('tom@x.org')
const pupils = []
for (let at = 1; at <= 12; at++) pupils.push(await signUp(`pupil${String(at).padStart(2, '0')}@x.org`))
const [one, two, three] = pupils as [(typeof pupils)[0], (typeof pupils)[0], (typeof pupils)[0]]
const { id } = await group({ name: 'Physics 7b', types: ['lab', 'sim'] }, pupils, [tom])

const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl
await page.setViewportSize({ width: 390, height: 844 })
await page.context().addCookies([{ name: 'spawner_token', value: tom.token, url, httpOnly: true }])
const button = (name: string) => page.getByRole('button', { name, exact: true })
const row = (email: string) => page.locator('.member-row').filter({ hasText: email })
const sheet = page.getByRole('dialog').first()
/** What is known of one member, and what can be done, is in a sheet. */
const openSheet = (email: string) => row(email).getByRole('button', { name: email, exact: true }).click()
const closeSheet = async () => {
  await sheet.getByRole('button', { name: 'Close', exact: true }).click()
  await sheet.waitFor({ state: 'detached' })
}
const heightOf = (email: string) => row(email).evaluate((element) => element.getBoundingClientRect().height)
const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')

/** Notes all that the sheet says from now on: some of it is over before a test looks. @returns whether the text was among it */
async function noteSheet(): Promise<(text: string) => Promise<boolean>> {
  await sheet.evaluate((element) => {
    const notes: string[] = []
    Object.assign(globalThis, { notes })
    const note = () => notes.push(element.textContent)
    new MutationObserver(note).observe(element, { subtree: true, childList: true, characterData: true })
  })
  return (text) =>
    page.evaluate(
      (text) => (globalThis as unknown as { notes: string[] }).notes.some((each) => each.includes(text)),
      text,
    )
}

async function open(): Promise<void> {
  await page.goto(`${url}/groups/members?group=${id}`)
  await page.getByText('13 members').waitFor()
  await button('Here: 0').waitFor()
}

/** A row grew with each container and each of its buttons, so that the finger came down on the row above. */
test('rows are as high before their containers start as when all of them run, and types have their display names', async () => {
  await open()
  await row(one.email).getByText('Physics lab: not started').waitFor()
  await row(one.email).scrollIntoViewIfNeeded()
  const before = await heightOf(one.email)
  for (const type of ['lab', 'sim']) assertOk(await launch(one, type))
  await row(one.email).getByText('Physics lab: running').waitFor()
  await row(one.email).getByText('Simulation: running').waitFor()
  assert.equal(await heightOf(one.email), before)
  const own = await openStream(berth, one.token)
  await row(one.email).getByText('here', { exact: true }).waitFor()
  assert.equal(await heightOf(one.email), before)
  own.close()
})

/** Who works with keys was at the top of the document after each restart: the pressed button went with the state. */
test('a restart says that it has begun and how it ended, and its button keeps the focus', async () => {
  await row(one.email).getByRole('button').focus()
  await page.keyboard.press('Enter')
  const wasSeen = await noteSheet()
  await button('Restart Physics lab of pupil01@x.org').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Restart', exact: true }).click()
  await page.locator('[role=status]').filter({ hasText: 'Physics lab of pupil01@x.org: running' }).waitFor()
  assert.ok(await wasSeen('Physics lab: starting'))
  await sheet.getByText('Physics lab: running', { exact: true }).waitFor()
  assert.match(await focused(), /Restart Physics lab of pupil01@x\.org$/)
  await page.keyboard.press('Escape')
  await row(one.email).getByText('Physics lab: running').waitFor()
  assert.equal(await focused(), one.email)
})

/** What failed again within half a second looked as if the press had done nothing. */
test('a restart that fails at once is seen to have been tried, in a row that stays although it is no longer what was filtered', async () => {
  engine.before = (call) => {
    if (call === 'create') throw new Error('no room on the disk')
  }
  assert.equal((await launch(two, 'sim')).status, 500)
  await button('Failed: 1').click()
  await row(three.email).waitFor({ state: 'hidden' })
  await openSheet(two.email)
  const wasSeen = await noteSheet()
  await button('Restart Simulation of pupil02@x.org').click()
  await page.locator('[role=status]').filter({ hasText: 'Simulation of pupil02@x.org: failed' }).waitFor()
  assert.ok(await wasSeen('Simulation: starting'))
  await sheet.getByText('Simulation: failed', { exact: true }).waitFor()
  engine.before = () => undefined
  await button('Restart Simulation of pupil02@x.org').click()
  await sheet.getByText('Simulation: running', { exact: true }).waitFor()
  assert.match(await focused(), /Restart Simulation of pupil02@x\.org$/)
  await closeSheet()
  await row(two.email).getByText('Simulation: running').waitFor()
  await button('Failed: 0').waitFor()
  assert.equal(await focused(), two.email)
  await button('Failed: 0').click()
  await button('All: 13').click()
  await button('Failed: 0').click()
  await page.getByText('No member matches.').first().waitFor()
  await row(two.email).waitFor({ state: 'hidden' })
  await button('All: 13').click()
})

/** The dialog went with its row, unseen and still modal: nothing on the page could be pressed until it was reloaded. */
test('a question about a member stays open when the filter would leave the member out', async () => {
  const own = await openStream(berth, one.token)
  await button('Here: 1').click()
  await openSheet(one.email)
  await button('Restart Physics lab of pupil01@x.org').click()
  const dialog = page.getByRole('dialog', { name: 'Restart Physics lab of pupil01@x.org?' })
  await dialog.waitFor()
  own.close()
  await page.getByText('No member matches.').first().waitFor({ state: 'attached' })
  await observationTime(300)
  assert.ok(await dialog.isVisible())
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await closeSheet()
  await button('All: 13').click()
})

/** A teacher who came back from another page looked at all thirty again, and a screen reader was told nothing of a filter. */
test('a filter is in the address and outlives a reload; its result is said once, and changes of rows are not', async () => {
  await page.getByRole('searchbox').fill('pupil0')
  await button('Starting or waiting: 0').click()
  await page.waitForFunction(() => /find=pupil0/.test(location.search) && /show=starting/.test(location.search))
  await page.waitForFunction(() =>
    document.querySelector('[role=status].visually-hidden')?.textContent?.includes('No member matches.'),
  )
  await button('All: 13').click()
  await page.getByText('9 of 13 members').first().waitFor()
  await page.waitForFunction(() =>
    document.querySelector('[role=status].visually-hidden')?.textContent?.includes('9 of 13 members'),
  )
  await page.reload()
  await page.getByText('9 of 13 members').first().waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'pupil0')
  await page.evaluate(() => {
    const changes: string[] = []
    Object.assign(globalThis, { changes })
    const note = (records: MutationRecord[]) => {
      const texts = records.flatMap(
        ({ target }) => target.parentElement?.closest('[role=status], [role=alert]')?.textContent ?? [],
      )
      changes.push(...texts.filter((text) => text !== ''))
    }
    new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true })
  })
  // What is said of the list when it comes is said by now.
  await observationTime(700)
  await page.evaluate(() => (globalThis as unknown as { changes: string[] }).changes.splice(0))
  assertOk(await launch(three, 'lab'))
  await row(three.email).getByText('Physics lab: running').waitFor()
  assert.deepEqual(await page.evaluate(() => (globalThis as unknown as { changes: string[] }).changes), [])
  await page.getByRole('searchbox').fill('')
})

/** The focus was at the top of the document, three screens above the next member. */
test('the member after one who is removed has the focus, and the removal is said', async () => {
  await openSheet('pupil11@x.org')
  await button('Remove pupil11@x.org from the group').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await row('pupil11@x.org').waitFor({ state: 'detached' })
  await page.locator('.member-row button:focus', { hasText: 'pupil12@x.org' }).waitFor()
  await page.getByText('12 members').first().waitFor()
})

/** The open page learned of it within thirty seconds, and left who had joined among the invitations until it was loaded anew. */
test('who accepts an invitation is a member on the open page within seconds, and no longer among the invitations of the open page', async () => {
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails: ['late@x.org'] }))
  // An invitation by another manager is no change of who is a member.
  await page.reload()
  await page.getByRole('heading', { name: 'Pending invitations' }).waitFor()
  await openLink(berth, 'late@x.org', 'signup')
  await row('late@x.org').getByText('Physics lab: not started').waitFor()
  await page.getByRole('heading', { name: 'Pending invitations' }).waitFor({ state: 'detached' })
})

/** A second press mailed everyone again. */
test('what was added is not added again by a second press', async () => {
  await button('Add members').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail addresses').fill('later@x.org')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('One address was invited.').waitFor()
  const mails = berth.mails.length
  await page.keyboard.press('Enter')
  await observationTime(500)
  assert.equal(berth.mails.length, mails)
  await dialog.getByRole('button', { name: 'Close' }).click()
})

/** Both buttons were dead afterwards: what was done counted for the new list. */
test('neither a file nor a role can be chosen while addresses are added', async () => {
  const answer = Promise.withResolvers<void>()
  await page.route(`**/api/groups/${id}/members`, async (route) => {
    await answer.promise
    await route.continue()
  })
  await button('Add members').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail addresses').fill(one.email)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByRole('button', { name: 'Adding…' }).waitFor()
  for (const label of ['Or a file (CSV)', 'Role']) assert.ok(await dialog.getByLabel(label).isDisabled(), label)
  answer.resolve()
  await dialog.getByText('One user is a member now.').waitFor()
  await dialog.locator('select:enabled').waitFor()
  await page.unroute(`**/api/groups/${id}/members`)
  await dialog.getByRole('button', { name: 'Close' }).click()
})

/** A class list has its teacher in it: the page took the role from her, and the next batch of addresses was refused. */
test('a manager whose own address is in the list stays a manager, and is asked before the role is given up', async () => {
  await button('Add members').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail addresses').fill(`tom@x.org ${two.email}`)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('2 users are members now.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  const role = async () => (await tom.call('GET', '/api/groups')).body.groups[0].role
  assert.equal(await role(), 'manager')
  await openSheet('tom@x.org')
  await button('Make tom@x.org an ordinary member').click()
  await dialog.getByText('Give up your role as a manager?').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await closeSheet()
  assert.equal(await role(), 'manager')
})

test('a group that has ended offers neither a join code nor a restart, says that it is over, and keeps the focus', async () => {
  assert.equal(await button('End the group').count(), 0)
  await button('Block or end the group').click()
  await button('End the group').click()
  const question = page.getByRole('dialog', { name: 'End the group now?' })
  await question.getByRole('button', { name: 'End the group' }).click()
  await page.locator('[role=status]', { hasText: 'The group has ended.' }).waitFor()
  assert.equal(await focused(), 'Block or end the group')
  for (const name of ['Join code', 'Hours', 'Start for all']) assert.equal(await button(name).count(), 0, name)
  await openSheet(one.email)
  assert.equal(await page.getByRole('button', { name: /^Restart/ }).count(), 0)
  assert.deepEqual(await violations(page), [])
  await closeSheet()
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null }))
  assert.deepEqual(problems, [])
})
