import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { startGitServer } from '#test/support/git-server.ts'
import { startEnvironmentBerth, untilEnded } from '#test/support/environment-berth.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Versions that are tried before they are published, and containers of older ones, with the real engine. */
const base = await testImage()
const repository = await startGitServer({ after })
const usual = { port: 8080, memory: '64m', command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] }
const templates = {
  dev: { image: base, port: 8080, memory: '64m' },
  course: { environment: 'course', display_name: 'Course', home: '/home', groups: ['physics'], ...usual },
}
const { berth, boss, ask, make, build, read } = await startEnvironmentBerth(
  { after },
  {
    env: {
      ENVIRONMENTS: 'managers',
      CONTAINER_TEMPLATES: JSON.stringify(templates),
      BUILD_BASES: base,
      BUILD_GIT_HOSTS: repository.host,
    },
    pace: { every: 500 },
  },
)
const [mia, ann] = [await berth.signUpWithoutContainer('mia@x.org'), await berth.signUpWithoutContainer('ann@x.org')]
const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'physics' } })
assertOk(made)
const { id: groupId } = made.body.group
for (const [email, role] of [
  ['mia@x.org', 'manager'],
  ['ann@x.org', 'member'],
])
  assertOk(await boss.call('POST', `/api/groups/${groupId}/members`, { body: { emails: [email], role } }))

const site = (text: string) => ({
  dockerfile: `FROM ${base}\nUSER 0\nRUN mkdir -p /www && echo ${text} > /www/index.html\nUSER 1000`,
})
await make('course', site('one'), { group_id: groupId })
assert.equal((await build('course')).state, 'ready')

async function untilGone(id: string): Promise<void> {
  const end = Date.now() + waitLimit(20_000)
  const isThere = () =>
    askEngine('GET', `/containers/${id}/json`).then(
      () => true,
      () => false,
    )
  while (Date.now() < end && (await isThere())) await sleep(100)
  assert.equal(await isThere(), false)
}

test('a manager tries a version before it is published, at an address of their own, and no other person does', async () => {
  const begun = await ask('POST', '/course/versions/1/try', undefined, mia)
  assertOk(begun)
  assert.equal(begun.body.service_url, `${berth.app.spawnerUrl}/${mia.slug}-try-course-1`)
  assert.equal((await mia.call('GET', `/${mia.slug}-try-course-1/`)).text.trim(), 'one')
  const shown = await ask('GET', '/course', undefined, mia)
  assert.equal(shown.body.environment.published, null)
  const { trial } = shown.body.environment
  assert.deepEqual([trial.version, trial.url], [1, `${berth.app.spawnerUrl}/${mia.slug}-try-course-1/`])
  const left = Date.parse(trial.ends_at) - Date.now()
  assert.ok(left > 0 && left <= 3_600_000)
  const found = await askEngine<{ Mounts: { Destination: string }[] }>(
    'GET',
    `/containers/${begun.body.container_id}/json`,
  )
  assert.deepEqual(
    found.Mounts.map(({ Destination }) => Destination),
    ['/.berth'],
  )
  assert.equal((await read('course')).trial, null)
  assertRefused(await ask('POST', '/course/versions/1/try', undefined, ann), 403)
  assertRefused(await ann.call('POST', '/api/container/launch/try-course-1'), 403)
  assertRefused(await ann.call('GET', `/${mia.slug}-try-course-1/`), 403)
  const own = await mia.call('GET', '/api/user/containers')
  assert.ok(!own.text.includes('try-course-1'))
})

test('one version is tried at a time, and its container goes with the next, with its end, and when it is stopped', async () => {
  assertOk(await ask('PATCH', '/course', { source: site('two') }))
  assert.equal((await build('course')).state, 'ready')
  const { changes } = (await read('course')).versions[0] ?? {}
  assert.deepEqual(changes, [
    '- RUN mkdir -p /www && echo one > /www/index.html',
    '+ RUN mkdir -p /www && echo two > /www/index.html',
  ])
  const before = (await ask('POST', '/course/versions/1/try', undefined, mia)).body.container_id
  const begun = await ask('POST', '/course/versions/2/try', undefined, mia)
  assertOk(begun)
  await untilGone(before)
  assert.equal((await mia.call('GET', `/${mia.slug}-try-course-2/`)).text.trim(), 'two')
  assertOk(await ask('DELETE', '/course/trial', undefined, mia))
  await untilGone(begun.body.container_id)
  assertRefused(await ask('DELETE', '/course/trial', undefined, mia), 409)
  const again = await ask('POST', '/course/versions/2/try', undefined, mia)
  assertOk(again)
  assertOk(await mia.call('POST', '/api/container/stop/try-course-2'))
  await untilGone(again.body.container_id)
  assert.equal((await ask('GET', '/course', undefined, mia)).body.environment.trial, null)
  assertRefused(await mia.call('POST', '/api/container/launch/try-course-2'), 400)
})

test('what was not built, and what no template runs, is not tried', async () => {
  assertRefused(await ask('POST', '/course/versions/9/try', undefined, mia), 404)
  await make('broken', { dockerfile: `FROM ${base}\nRUN exit 7` })
  await build('broken')
  assertRefused(await ask('POST', '/broken/versions/1/try'), 409)
  await make('unused', site('three'))
  await build('unused')
  const refused = await ask('POST', '/unused/versions/1/try')
  assertRefused(refused, 409)
  assert.match(refused.body.error, /No template names the environment unused/)
})

test('a manager sees who runs an older version, and has it brought up to date', async () => {
  assertOk(await ask('POST', '/course/versions/1/publish', undefined, mia))
  assertOk(await ann.call('POST', '/api/container/launch/course'))
  const older = async () => (await ask('GET', '/course/older', undefined, mia)).body.older
  assert.deepEqual(await older(), [])
  assertOk(await ask('POST', '/course/versions/2/publish', undefined, mia))
  const [found, ...others] = await older()
  assert.deepEqual([found.email, found.container_type, found.is_asked, others], ['ann@x.org', 'course', false, []])
  assertRefused(await ask('GET', '/course/older', undefined, ann), 403)
  assertRefused(await ask('POST', '/course/update', { mode: 'now' }, ann), 403)
  assertOk(await ask('POST', '/course/update', { mode: 'ask' }, mia))
  assert.equal((await older())[0].is_asked, true)
  assertOk(await ask('POST', '/course/update', { mode: 'now' }, mia))
  const end = Date.now() + waitLimit(20_000)
  const shown = async () => (await ann.call('GET', `/${ann.slug}-course/`)).text.trim()
  while (Date.now() < end && (await shown()) !== 'two') await sleep(100)
  assert.equal(await shown(), 'two')
})

// A manager was told that the container of a member who had left was being replaced, with a version that this person may not launch.
test('the container of a member who was removed stays as it is, and the list and the answer say so', async () => {
  assertOk(await ask('POST', '/course/versions/1/publish', undefined, mia))
  assertOk(await mia.call('DELETE', `/api/groups/${groupId}/members/${ann.id}`))
  const [found] = (await ask('GET', '/course/older', undefined, mia)).body.older
  assert.deepEqual([found.email, found.may_not_launch], ['ann@x.org', true])
  const { templates: listed } = (await boss.call('GET', '/api/admin/templates')).body
  const { older } = listed.find((each: { type: string }) => each.type === 'course')
  assert.deepEqual(
    older.map((each: { may_not_launch?: boolean }) => each.may_not_launch),
    [true],
  )
  const left = '1 container stays as it is: its owner may not launch it any more.'
  for (const mode of ['ask', 'now']) {
    const { message } = (await ask('POST', '/course/update', { mode }, mia)).body
    assert.equal(message, `No container is to be updated. ${left}`)
  }
  const [after] = (await ask('GET', '/course/older', undefined, mia)).body.older
  assert.deepEqual([after.container_id, after.is_asked], [found.container_id, false])
})

test('a base that a manager may not use fails their build by its name, also where a repository brings it', async () => {
  writeFileSync(path.join(repository.folder, 'Dockerfile'), `ARG NAME=secret\nFROM ${base} AS one\nFROM $NAME:1\n`)
  repository.commit()
  const source = { git: repository.url, ref: 'main' }
  const checked = await mia.call('POST', '/api/admin/environment-checks', { body: { source, group_id: groupId } })
  assertRefused(checked, 400)
  assert.match(checked.body.error, /secret:1/)
  assertOk(await ask('POST', '', { name: 'from-git', source, group_id: groupId }, mia))
  assert.equal((await ask('POST', '/from-git/build', undefined, mia)).status, 202)
  const failed = await untilEnded(read, 'from-git', 1)
  assert.match(failed.error ?? '', /^The image secret:1 may not be used here\. Managers build on: /)
  assert.doesNotMatch((await ask('GET', '/from-git/versions/1/log')).text, /Pulling/)
})

test('API tokens read, build and publish as far as their scopes say', async () => {
  const tokenFor = async (...scopes: string[]) => {
    const body = { name: scopes.join(' '), scopes, expires_in: 3_600 }
    const reply = await boss.call('POST', '/api/user/tokens', { body })
    assertOk(reply)
    return reply.body.token as string
  }
  const [reader, writer, other] = [
    await tokenFor('admin:read'),
    await tokenFor('admin:write'),
    await tokenFor('containers:read'),
  ]
  const by = (token: string, method: string, target: string) =>
    berth.call(method, `/api/admin/environments${target}`, { token })
  assertOk(await by(reader, 'GET', ''))
  assert.match((await by(reader, 'GET', '/course/versions/1/log')).text, /Successfully tagged/)
  assertRefused(await by(reader, 'POST', '/course/build'), 403)
  for (const target of ['', '/course', '/course/versions/1/log']) assertRefused(await by(other, 'GET', target), 403)
  assertOk(await by(writer, 'POST', '/course/versions/1/publish'))
  const built = await by(writer, 'POST', '/unused/build')
  assert.equal(built.status, 202, built.text)
})

test('tries are in the audit log, with their version', async () => {
  const { entries } = (await boss.call('GET', '/api/admin/audit?action=environment.try')).body
  assert.equal(entries.length, 4)
  const { version, type } = entries[0].detail
  assert.deepEqual([version, type], [2, 'try-course-2'])
  assert.equal(entries[0].target, 'environment:course')
})

test('a version whose image the engine has no more is not tried: 409 with words', async () => {
  const version = (await read('course')).versions.find(({ state }) => state === 'ready')?.version
  const image = `berth.invalid/${berth.installation.toLowerCase()}/course:${version}`
  await askEngine('DELETE', `/images/${image}`, { query: { force: 'true' } })
  const refused = await ask('POST', `/course/versions/${version}/try`, undefined, mia)
  assertRefused(refused, 409)
  assert.match(refused.body.error, /Build it again/)
  assert.equal((await ask('GET', '/course', undefined, mia)).body.environment.trial, null)
})
