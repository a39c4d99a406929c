// Part of npm run test:more: its pages; specification/groups/term-end has what is removed, kept and refused.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'

/** An administrator ends a course; a student without an account any more downloads what they had, on a phone, in German. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const serve = ['/bin/sh', '-c', 'trap "exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done']
const lab = { display_name: 'Physics lab', image: await testImage(), command: serve }
const env = { CONTAINER_TEMPLATES: JSON.stringify({ lab }) }
const berth = await startBerth({ after }, { webDir, env, pace: { every: 500 } })
const boss = await berth.administrator()
const [tom, ann] = [await berth.signUp('tom@x.org'), await berth.signUp('ann@x.org'), await berth.signUp('ben@x.org')]
const url = berth.app.frontendUrl
const { page, problems } = await openTab({ after })
await page.context().addCookies([{ name: 'spawner_token', value: boss.token, url, httpOnly: true }])

async function group(name: string, members: readonly string[], managers: readonly string[] = []): Promise<void> {
  const made = await boss.call('POST', '/api/admin/groups', { body: { name, types: ['lab'] } })
  assertOk(made)
  const { id } = made.body.group
  for (const [role, emails] of [
    ['member', members],
    ['manager', managers],
  ] as const)
    if (emails.length > 0) assertOk(await boss.call('POST', `/api/groups/${id}/members`, { body: { emails, role } }))
}
await group('Physics 7b', ['ann@x.org', 'ben@x.org'], ['tom@x.org'])
await group('Physics 8a', ['ben@x.org'])
const launched = await ann.call('POST', '/api/container/launch/lab')
assertOk(launched)
await execInContainer(launched.body.container_id, 'echo "what I measured" > measured.txt')

async function violations(of: Page): Promise<string[]> {
  await of.evaluate(axe.source)
  return of.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
const row = (email: string) => page.locator('.row').filter({ hasText: email })

test('the page of the end of term is reached from the list of groups, and says who goes and who stays', async () => {
  await page.goto(`${url}/admin/groups`)
  await press('Physics 7b')
  await page.getByRole('link', { name: 'End of the term of Physics 7b' }).click()
  await page.getByRole('heading', { name: 'End of term: Physics 7b' }).waitFor()
  await page.getByText('one account is removed').waitFor()
  await row('ann@x.org').getByText('Account is removed').waitFor()
  await row('ben@x.org').getByText('is in another group').waitFor()
  await row('tom@x.org').getByText('manages the group').waitFor()
  await page.getByLabel('Keep archives until').fill('2020-01-01')
  await page.getByText('Archives must be kept beyond the date of the removal.').waitFor()
  // It removed at once.
  await page.getByLabel('Remove from').fill('2020-01-01')
  await page.getByText('The removal cannot begin before today.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'End the term…' }).getAttribute('aria-disabled'), 'true')
  await page.reload()
  await page.getByText('one account is removed').waitFor()
  assert.deepEqual(await violations(page), [])
})

test('an end of term is cancelled as long as nothing is removed', async () => {
  await press('End the term…')
  await page
    .getByRole('dialog')
    .getByText(/Removed from [A-Z][a-z]+, .*: one account, .* kept until/)
    .waitFor()
  await confirm('End the term')
  await page.getByText(/Everything is archived and mailed\. The removal begins/).waitFor()
  assert.deepEqual(await violations(page), [])
  await press('Cancel…')
  await confirm('Cancel the end of term')
  await page.getByRole('button', { name: 'End the term…' }).waitFor()
  assert.equal((await ann.call('GET', '/api/user/me')).status, 200)
})

test('begun for today it goes on to its end while the page is open', async () => {
  await page.getByText('one account is removed').waitFor()
  await page.getByLabel('Remove from').fill(new Date().toISOString().slice(0, 10))
  await page.getByText('As soon as everything is archived and mailed.').waitFor()
  await press('End the term…')
  await page.getByText('Removed as soon as all is archived and mailed: one account').waitFor()
  await confirm('End the term')
  await page.getByText(/Done\. Archives are kept until/).waitFor()
  await row('ann@x.org').getByText('Done', { exact: true }).waitFor()
  await row('ann@x.org')
    .getByText(/^Physics lab \(/)
    .waitFor()
  assert.equal((await ann.call('GET', '/api/user/me')).status, 404)
  assert.deepEqual((await tom.call('GET', '/api/groups')).body.groups.length, 1)
  await page.setViewportSize({ width: 390, height: 800 })
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  assert.deepEqual(await violations(page), [])
  assert.deepEqual(problems, [])
})

test('the student opens the link of the mail, which downloads nothing by itself, and downloads the files', async () => {
  const link = /http\S+\/archive\?token=\S+/.exec(berth.mail.newestTo('ann@x.org').text ?? '')?.[0]
  assert.ok(link)
  const { page: phone, problems: found } = await openTab({ after })
  await phone.setViewportSize({ width: 390, height: 800 })
  await phone.context().addCookies([{ name: 'spawner_language', value: 'de', url }])
  await phone.goto(link)
  await phone.getByText('Physics 7b ist zu Ende.').waitFor()
  assert.equal(new URL(phone.url()).hash, '', 'the token is not in the address bar')
  assert.deepEqual(await violations(phone), [])
  assert.ok((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  const [download] = await Promise.all([
    phone.waitForEvent('download'),
    phone.getByRole('button', { name: 'Dateien von Physics lab herunterladen' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'Physics_7b-lab.tar.gz')
  const tar = gunzipSync(readFileSync(await download.path()))
  assert.ok(tar.includes('what I measured'))
  await phone.getByText('Der Download hat begonnen.').waitFor()
  await phone.reload()
  await phone.getByText('Physics 7b ist zu Ende.').waitFor()
  assert.deepEqual(found, [])
})

test('a link of an end of term that was cancelled says so', async () => {
  const { page: other } = await openTab({ after })
  await other.goto(`${url}/archive?token=${'a'.repeat(43)}`)
  await other.getByText('There is no archive behind this link').waitFor()
  await other.goto(`${url}/archive`)
  await other.getByText('The link is incomplete.').waitFor()
})
