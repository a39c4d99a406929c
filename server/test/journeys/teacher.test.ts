import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { openStream } from '#test/support/event-stream.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { visitContainer } from '#test/support/routing.ts'
import { violations } from '#test/stories/accessibility-checks.ts'

/** A teacher with a class, on a phone at the desk: what the page of a group shows without being reloaded, and what its buttons do. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const image = await testImage()
const serve = ['/bin/sh', '-c', 'trap "exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done']
const templates = {
  // The first type starts at each sign-in, and this one is of a group without members.
  staff: { image, command: serve, groups: ['Staff'] },
  lab: { display_name: 'Physics lab', image, command: serve, groups: ['Physics 7b'] },
  broken: {
    display_name: 'Experiment',
    image,
    command: ['/bin/sh', '-c', 'echo "ModuleNotFoundError: numpy"; exit 3'],
    groups: ['Physics 7b'],
  },
}
const berth = await startBerth(
  { after },
  { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates), SHARING: 'groups' } },
)
const boss = await berth.signUp('boss@x.org')
const tom = await berth.signUp('tom@x.org')
const pupils: Person[] = []
for (const name of ['ann', 'ben', 'cem', 'dora']) pupils.push(await berth.signUp(`${name}@x.org`))
const [ann, ben] = pupils as [Person, Person]
const made = await boss.call('POST', '/api/admin/groups', {
  body: { name: 'Physics 7b', types: ['lab', 'broken'] },
})
assertOk(made)
const members = `/api/groups/${made.body.group.id}/members`
assertOk(await boss.call('POST', members, { body: { emails: ['tom@x.org'], role: 'manager' } }))
assertOk(await boss.call('POST', members, { body: { emails: pupils.map(({ auth }) => auth.user.email) } }))

interface Looks {
  requests: { id: number }[]
  looks: { share_id: number }[]
}

const { page, problems } = await openTab({ after })
const url = berth.app.frontendUrl
await page.setViewportSize({ width: 390, height: 800 })
await page.context().addCookies([{ name: 'spawner_token', value: tom.token, url, httpOnly: true }])
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
const row = (email: string) => page.locator('.member-row').filter({ hasText: email })
const sheet = page.getByRole('dialog')
/** What is known of one member, and what can be done, is in a sheet. */
const openSheet = (email: string) => row(email).getByRole('button', { name: email, exact: true }).click()

test('the page says who is here, and it fits a phone', async () => {
  await page.goto(`${url}/groups/members?group=${made.body.group.id}`)
  // The words are also announced, in an element of their own for a moment.
  await page.locator('.member-count', { hasText: '5 members' }).waitFor()
  await page.getByRole('button', { name: 'Here: 0' }).waitFor()
  const own = await openStream(berth, ann.token)
  await row('ann@x.org').getByText('here', { exact: true }).waitFor()
  await press('Here: 1')
  await row('ben@x.org').waitFor({ state: 'hidden' })
  // Hidden and not removed: with 300 members, making the rows again took longer than a press may.
  assert.equal(await page.locator('.member-row').count(), 5)
  own.close()
  await page.getByRole('button', { name: 'Here: 0' }).waitFor()
  await press('All: 5')
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
})

/** The footer stood where the list came, which moved it off the screen (0.07); then the rows moved when the stream was open. */
test('nothing on the page moves while it loads, and its list is asked for before it is drawn', async () => {
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.addInitScript(() => {
    const shifts: number[] = []
    Object.assign(globalThis, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.reload()
  await page.getByText('5 members').waitFor()
  await page.getByRole('contentinfo').waitFor()
  await observationTime(500)
  assert.deepEqual(await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts), [])
  // What a component asks for by itself, as the header does for the user, is sent after the first paint.
  assert.ok(asked.indexOf(members) < asked.indexOf('/api/user/me'), asked.join(' '))
})

test('a start for all starts the container of each member, which the page shows as it happens', async () => {
  await press('Start for all')
  await page.getByRole('dialog').getByLabel('Container type').selectOption('Physics lab')
  await confirm('Start for all')
  for (const { auth } of pupils) await row(auth.user.email).getByText('Physics lab: running').waitFor()
  await page.getByText('The start of 4 containers was requested.').waitFor()
  // It lies over the page until it is closed.
  await press('Close')
  await page.getByText('The start of 4 containers was requested.').waitFor({ state: 'detached' })
})

test('why a container failed is beside it, with the last lines that it wrote', async () => {
  await ben.call('POST', '/api/container/launch/broken')
  await press('Failed: 1')
  await row('ben@x.org').getByText('Experiment: failed').waitFor()
  await openSheet('ben@x.org')
  await sheet.getByText('Experiment: failed').waitFor()
  await press('Why Experiment of ben@x.org did not start')
  const lines = page.getByRole('dialog', { name: 'Failed start of Experiment of ben@x.org' })
  await lines.getByText('ModuleNotFoundError: numpy').waitFor()
  await lines.getByRole('button', { name: 'Close' }).click()
  await lines.waitFor({ state: 'detached' })
  // The sheet below it stays.
  await sheet.getByText('Experiment: failed').waitFor()
  await confirm('Close')
  await press('All: 5')
})

test('"May I look?" waits for the answer of the member, then leads to the container until the member ends it', async () => {
  const own = await openStream(berth, ann.token)
  const looks = () => own.events.findLast(({ name }) => name === 'looks')?.data as Looks | undefined
  await openSheet('ann@x.org')
  await press('Ask ann@x.org to let you look at Physics lab')
  await sheet.getByRole('listitem').getByText('You asked to look; no answer yet.').waitFor()
  assert.deepEqual(await violations(page), [])
  await pollUntil(
    () => looks()?.requests.length === 1,
    () => own.text(),
  )
  const visit = () => visitContainer(berth, `${ann.slug}-lab`, tom.token)
  assert.equal(await visit(), 403)
  assertOk(await ann.call('POST', `/api/user/look-requests/${looks()?.requests[0]?.id}/agree`))
  const link = sheet.getByRole('link', { name: 'Look at Physics lab of ann@x.org' })
  assert.equal(await link.getAttribute('href'), `${berth.app.spawnerUrl}/${ann.slug}-lab`)
  assert.notEqual(await visit(), 403)
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  // The row and its filter say it, too.
  await row('ann@x.org').getByText('Physics lab: running, you may look').waitFor()
  assertOk(await ann.call('DELETE', `/api/container/shares/lab/${looks()?.looks[0]?.share_id}`))
  await link.waitFor({ state: 'detached' })
  await confirm('Close')
  assert.equal(await visit(), 403)
  own.close()
})

test('the page reads in German, and axe finds nothing', async () => {
  await press('Deutsch')
  await row('ann@x.org').getByText('Physics lab: läuft').waitFor()
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390)
  assert.deepEqual(await violations(page), [])
  await press('English')
})

test('one container is restarted after a question, and all are stopped', async () => {
  const labOfAnn = async () => {
    const all = (await ann.call('GET', '/api/user/containers')).body.containers as {
      type: string
      container_id: string
    }[]
    return all.find(({ type }) => type === 'lab')?.container_id
  }
  const before = await labOfAnn()
  await openSheet('ann@x.org')
  await press('Restart Physics lab of ann@x.org')
  await confirm('Restart')
  // The page is told the latest state every half second, in which a restart may begin and end.
  await pollUntil(
    async () => (await labOfAnn()) !== before,
    () => `still ${before}`,
  )
  await sheet.getByText('Physics lab: running').waitFor()
  await confirm('Close')
  await row('ann@x.org').getByText('Physics lab: running').waitFor()
  await press('Stop for all')
  await confirm('Stop for all')
  for (const { auth } of pupils) await row(auth.user.email).getByText('Physics lab: stopped').waitFor()
  assert.deepEqual(problems, [])
})
