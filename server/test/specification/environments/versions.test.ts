import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { startImageRegistry } from '#test/support/engine/image-registry.ts'
import { waitLimit } from '#test/support/extent.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'

/** From a source to a container, with the real engine: build, publish, go back, remove. Contract, section 18. */
const { berth, boss, base, ask, make, build, read, left } = await startEnvironmentBerth({ after })
const site = (text: string) => ({
  dockerfile: `FROM ${base}\nUSER 0\nRUN mkdir -p /www && echo ${text} > /www/index.html\nUSER 1000`,
})
const launch = () => boss.call('POST', '/api/container/launch/course')
const shown = async () => (await boss.call('GET', `/${boss.slug}-course/`)).text.trim()
/** What the page of templates says of the type. */
const missing = async () => {
  const { templates } = (await boss.call('GET', '/api/admin/templates')).body
  return templates.find(({ type }: { type: string }) => type === 'course').environment_missing
}
const imageOf = (version: number) => `berth.invalid/${berth.installation}/course:${version}`

/** Images go behind the answer. */
async function untilLeft(versions: readonly number[]): Promise<void> {
  const wanted = versions.map(imageOf)
  const end = Date.now() + waitLimit(10_000)
  while (Date.now() < end && (await left()).images.join() !== wanted.join()) await sleep(100)
  assert.deepEqual((await left()).images, wanted)
}

test('a type whose environment does not exist, or has no published version, is refused with words', async () => {
  const refused = await launch()
  assertRefused(refused, 409)
  assert.match(refused.body.error, /environment course .* no published version/)
  // Nothing but a launch told the administrator.
  assert.equal(await missing(), 'course')
})

test('an environment is made, built with a log, published and launched', async () => {
  const made = await make('course', site('one'), { description: 'Statistics' })
  assert.deepEqual(made, {
    name: 'course',
    description: 'Statistics',
    source: site('one'),
    group_id: null,
    group: null,
    published: null,
    types: ['course'],
    versions: [],
    trial: null,
  })
  const version = await build('course')
  assert.equal(version.state, 'ready')
  assert.equal(version.version, 1)
  assert.match(version.image_id ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.ok((version.size ?? 0) > 1_000_000)
  assert.equal(version.error, null)
  assert.ok(Math.abs(Date.parse(version.created_at) - Date.now()) < waitLimit(60_000))
  const log = await ask('GET', '/course/versions/1/log')
  assert.match(log.headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(log.text, /Step 1\/\d+ : FROM sha256:/)
  assert.match(log.text, /Successfully tagged/)
  assertRefused(await launch(), 409)
  const published = await ask('POST', '/course/versions/1/publish')
  assertOk(published)
  assert.equal(published.body.environment.published, 1)
  assert.equal(await missing(), undefined)
  assertOk(await launch())
  assert.equal(await shown(), 'one')
})

test('what is published later reaches containers at their next start, and so does the way back', async () => {
  assertOk(await ask('PATCH', '/course', { source: site('two') }))
  assert.equal((await build('course')).version, 2)
  assertOk(await ask('POST', '/course/versions/2/publish'))
  assert.equal(await shown(), 'one')
  const templates = await boss.call('GET', '/api/admin/templates')
  const { older } = templates.body.templates.find((each: { type: string }) => each.type === 'course')
  assert.deepEqual(
    older.map((each: { user_id: number }) => each.user_id),
    [boss.id],
  )
  assertOk(await boss.call('POST', '/api/container/stop/course'))
  assertOk(await launch())
  assert.equal(await shown(), 'two')
  assertOk(await ask('POST', '/course/versions/1/publish'))
  assertOk(await boss.call('POST', '/api/container/stop/course'))
  assertOk(await launch())
  assert.equal(await shown(), 'one')
})

test('a build that fails says why, and leaves nothing in the engine', async () => {
  const before = await left()
  await make('broken', { dockerfile: `FROM ${base}\nRUN printf 'some \\033[31mred\\033[0m words\\n'; exit 7` })
  const failed = await build('broken')
  assert.equal(failed.state, 'failed')
  assert.match(failed.error ?? '', /returned a non-zero code: 7/)
  assert.deepEqual([failed.image_id, failed.size], [null, null])
  const log = (await ask('GET', '/broken/versions/1/log')).text
  assert.match(log, /^some red words$/m)
  assert.match(log, /non-zero code: 7/)
  assert.deepEqual(await left(), before)
  assertRefused(await ask('POST', '/broken/versions/1/publish'), 409)
  // What is another than in a version that failed says nothing of what was launched before.
  const lines = (words: string) => ({ source: { dockerfile: `FROM ${base}\nRUN echo ${words}` } })
  for (const [at, words] of ['first', '; exit 7', 'third'].entries()) {
    assertOk(await ask('PATCH', '/broken', lines(words)))
    assert.equal((await build('broken')).state, at === 1 ? 'failed' : 'ready')
  }
  assert.deepEqual((await read('broken')).versions[0]?.changes, ['- RUN echo first', '+ RUN echo third'])
  await make('missing', { dockerfile: 'FROM berth.invalid/none:1' })
  assert.match((await build('missing')).error ?? '', /^The image berth\.invalid\/none:1 cannot be had/)
})

test('a base that the engine does not have is pulled for an administrator', async () => {
  const { host } = await startImageRegistry({ after }, ['base'])
  const image = `${host}/any/course:base`
  after(() => askEngine('DELETE', `/images/${image}`).catch(() => undefined))
  await make('pulled', { dockerfile: `FROM ${image}\nENV COURSE=one` })
  assert.equal((await build('pulled')).error, null)
  assert.match((await ask('GET', '/pulled/versions/1/log')).text, new RegExp(`^Pulling ${image}$`, 'm'))
})

test('packages and commands are added to a base, whose account the program keeps', async () => {
  await make('tools', { base, run: ['echo "a b" > /made', 'test "$(id -u)" = 0\nls /made'] })
  const version = await build('tools')
  assert.equal(version.error, null)
  assert.ok(Math.abs(Date.parse(version.created_at) - Date.now()) < waitLimit(60_000))
  const log = (await ask('GET', '/tools/versions/1/log')).text
  assert.match(log, /USER 1000:1000/)
})

test('one build at a time for each environment, the others wait; what runs is told as it comes, and can be cancelled', async () => {
  const slow = { dockerfile: `FROM ${base}\nRUN echo begun; sleep 600` }
  await make('slow', slow)
  await make('next', slow)
  const before = await left()
  assert.equal((await ask('POST', '/slow/build')).status, 202)
  assert.equal((await ask('POST', '/next/build')).status, 202)
  assertRefused(await ask('POST', '/slow/build'), 409)
  const response = await fetch(`${berth.url}/api/admin/environments/slow/versions/1/log`, {
    headers: { authorization: `Bearer ${boss.token}` },
    signal: AbortSignal.timeout(waitLimit(20_000)),
  })
  let text = ''
  for await (const piece of response.body ?? []) {
    text += new TextDecoder().decode(piece)
    if (text.includes('begun\n')) break
  }
  assert.match(text, /begun\n$/)
  assert.deepEqual(
    [(await read('slow')).versions[0]?.state, (await read('next')).versions[0]?.state],
    ['building', 'waiting'],
  )
  for (const name of ['next', 'slow']) assertOk(await ask('POST', `/${name}/versions/1/cancel`))
  assert.match((await read('slow')).versions[0]?.error ?? '', /^The build was cancelled/)
  assert.equal((await read('next')).versions[0]?.state, 'failed')
  assertRefused(await ask('POST', '/slow/versions/1/cancel'), 409)
  const end = Date.now() + waitLimit(10_000)
  while (Date.now() < end && (await left()).images.length > before.images.length) await sleep(100)
  assert.deepEqual(await left(), before)
})

test('an environment that a template uses is not deleted; another one goes with its images', async () => {
  const refused = await ask('DELETE', '/course')
  assertRefused(refused, 409)
  assert.match(refused.body.error, /course/)
  const pages: string[] = []
  for (let after: string | null = ''; after !== null;) {
    const { body } = await ask('GET', `?limit=4${after && `&cursor=${encodeURIComponent(after)}`}`)
    pages.push(body.environments.map(({ name }: { name: string }) => name).join())
    after = body.next_cursor
  }
  assert.deepEqual(pages, ['course,broken,missing,pulled', 'tools,slow,next'])
  for (const name of ['tools', 'broken', 'missing', 'pulled', 'slow', 'next']) {
    const { message } = (await ask('DELETE', `/${name}`)).body
    assert.equal(typeof message, 'string')
  }
  assertRefused(await ask('GET', '/tools'), 404)
  assert.equal((await build('course')).version, 3)
  await untilLeft([1, 2, 3])
})

test('the newest three versions stay, and the published one; others go when no container has them', async () => {
  assert.equal((await build('course')).version, 4)
  assert.deepEqual(
    (await read('course')).versions.map(({ version }) => version),
    [4, 3, 2, 1],
  )
  assertOk(await ask('POST', '/course/versions/4/publish'))
  assert.equal((await build('course')).version, 5)
  // The container of version 1 still runs.
  await untilLeft([1, 3, 4, 5])
  assert.deepEqual(
    (await read('course')).versions.map(({ version }) => version),
    [5, 4, 3, 1],
  )
  assertOk(await ask('POST', '/course/versions/1/publish'))
  assertOk(await ask('POST', '/course/versions/4/publish'))
  assertOk(await boss.call('POST', '/api/container/stop/course'))
  assertOk(await launch())
  assert.equal((await build('course')).version, 6)
  await untilLeft([4, 5, 6])
  assert.deepEqual(
    (await read('course')).versions.map(({ version }) => version),
    [6, 5, 4],
  )
})

test('every change is in the audit log', async () => {
  const { entries } = (await boss.call('GET', '/api/admin/audit')).body
  const actions = new Set(
    entries.flatMap(({ action, target }: { action: string; target: string }) =>
      target.startsWith('environment:') ? action.replace('environment.', '') : [],
    ),
  )
  assert.deepEqual([...actions].sort(), ['build', 'cancel', 'change', 'create', 'delete', 'publish'])
})
