// Part of npm run test:more: a browser; git-links.test.ts and open-links.test.ts have the rules of such links.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { startGitServer } from '#test/support/git-server.ts'

/** One link for a class: from the page of the group to the file in the container of a student. */
const repository = await startGitServer({ after })
writeFileSync(path.join(repository.folder, 'week1.txt'), 'of the course\n')
repository.commit()
const { dev } = JSON.parse(await testTemplates()) as { dev: Record<string, unknown> }
const serving = { ...dev, command: ['/bin/sh', '-c', 'httpd -p 8080 -h /home/berth; exec tail -f /dev/null'] }
const berth = await startBerth(
  { after },
  {
    webDir: path.resolve(import.meta.dirname, '../../../../web/dist'),
    env: {
      CONTAINER_TEMPLATES: JSON.stringify({ dev: { ...serving, groups: ['Physics'], idle_timeout: 3_600 } }),
      OPEN_GIT_HOSTS: repository.host,
    },
  },
)
const boss = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')
const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics' } })
const groupId = made.body.group.id as number
assertOk(await boss.call('POST', `/api/groups/${groupId}/members`, { body: { emails: ['ann@x.org'], role: 'member' } }))
const url = berth.app.frontendUrl
let link = ''

test('the page of a group has the link, with a QR code', async (t) => {
  const { page } = await openTab(t)
  await page.context().addCookies([{ name: 'spawner_token', value: boss.token, url, httpOnly: true }])
  await page.goto(`${url}/groups/members?group=${groupId}`)
  await page.getByRole('button', { name: 'Link for the class' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('File or page to open').fill('lesson/week1.txt')
  await dialog.getByLabel('Git repository').fill(repository.url)
  await dialog.getByLabel('Folder of the home').fill('lesson')
  link = (await dialog.locator('code.path').textContent()) ?? ''
  assert.equal(link, `${url}/open/dev/lesson/week1.txt?${new URLSearchParams({ git: repository.url, to: 'lesson' })}`)
  // What it says is read in `qr-code.test.ts`. In a low window what follows it lay upon it.
  await page.setViewportSize({ width: 1366, height: 650 })
  const [code, copy] = [dialog.getByRole('img'), dialog.getByRole('button', { name: 'Copy the link' })]
  const [below, above] = [(await copy.boundingBox())?.y ?? 0, await code.boundingBox()]
  assert.ok(above && above.height > 300 && below >= above.y + above.height, JSON.stringify([above, below]))
  // Who gets a link reads what is in it.
  await dialog.getByLabel('Git repository').fill('https://ann:secret@git.example.org/course')
  await dialog.getByText('Write the address of a public repository').waitFor()
  assert.equal(await copy.count(), 0)
  await dialog.getByLabel('Git repository').fill('')
  for (const wrong of ['../x', 'a\\b', 'a%2fb', `${url}/bob-dev/x`]) {
    await dialog.getByLabel('File or page to open').fill(wrong)
    await dialog.getByText('This path leads nowhere.').waitFor()
    assert.equal(await code.count(), 0, wrong)
  }
})

test('who opens it without a session signs in, reads what is fetched and where to, and confirms; then the file is there', async (t) => {
  const { page } = await openTab(t)
  await page.goto(link)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByLabel('E-mail address').fill('ann@x.org')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  await page.goto(`${url}/verify-login?token=${berth.mail.tokenFor('ann@x.org')}`)
  await page.getByText('Repository').getByText(repository.url).waitFor()
  await page.getByText('Folder').getByText('lesson', { exact: true }).waitFor()
  assert.equal((await ann.call('GET', '/ann-dev/lesson/week1.txt')).status, 404)
  await page.getByRole('button', { name: 'Get the files and open' }).click()
  await arrival(page, `${berth.app.spawnerUrl}/ann-dev/lesson/week1.txt`)
  await page.getByText('of the course').waitFor()
})

test('the card says when a container is suspended, and what keeps it awake', async (t) => {
  const { page } = await openTab(t)
  await page.context().addCookies([{ name: 'spawner_token', value: ann.token, url, httpOnly: true }])
  await page.goto(url)
  await page.getByText(/^Runs until .* if it is not used\. /).waitFor()
  const shown = await page.getByText(/^Runs until /).textContent()
  assert.match(shown ?? '', / (?:It was started|What an open page or a program sends counts as use)\.$/)
})

test('a link to a type that is unknown, or not for its reader, leads to the dashboard with a sentence', async (t) => {
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  const { page } = await openTab(t)
  await page.context().addCookies([{ name: 'spawner_token', value: bob.token, url, httpOnly: true }])
  for (const type of ['nothing', 'dev']) {
    await page.goto(`${url}/open/${type}/lesson/week1.txt`)
    await page.getByText('The link leads to a container that does not exist here, or is not for you.').waitFor()
    assert.equal(new URL(page.url()).pathname, '/')
  }
})
