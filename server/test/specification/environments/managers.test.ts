import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { waitLimit } from '#test/support/extent.ts'
import { startGroupBerth, type Signed } from '#test/support/group-berth.ts'

/** Who makes environments, and on which images, without an engine. Contract, section 18. */
const template = (more: object) => ({ port: 8080, memory: '64m', cpus: 0.5, ...more })
const templates = {
  dev: template({ image: 'open:1' }),
  prod: template({ image: 'open:1' }),
  physics: template({ image: 'physics:1', groups: ['physics'] }),
  chemistry: template({ image: 'chemistry:1', groups: ['chemistry'] }),
  lab: template({ environment: 'lab', groups: ['physics'] }),
  shared: template({ environment: 'shared' }),
  both: template({ environment: 'both', groups: ['physics', 'chemistry'] }),
}
const env = { CONTAINER_TEMPLATES: JSON.stringify(templates), ADMIN_EMAILS: 'boss@x.org,vice@x.org' }
const { boss, signUp, group } = await startGroupBerth({ after }, { env: { ...env, ENVIRONMENTS: 'managers' } })
const [mia, max, ann] = [await signUp('mia@x.org'), await signUp('max@x.org'), await signUp('ann@x.org')]
const physics = await group({ name: 'physics', types: ['physics', 'lab'] }, [ann], [mia])
const chemistry = await group({ name: 'chemistry', types: ['chemistry'] }, [], [max])

const from = (...images: string[]) => ({ dockerfile: images.map((image) => `FROM ${image}`).join('\n') })
const make = (by: Signed, name: string, source: object, groupId: number | null = physics.id) =>
  by.call('POST', '/api/admin/environments', { name, source, group_id: groupId })
const names = async (by: Signed) => {
  const reply = await by.call('GET', '/api/admin/environments')
  assertOk(reply)
  return reply.body.environments.map(({ name }: { name: string }) => name)
}

test('without ENVIRONMENTS there are none, and with admins they are for administrators alone', async (t) => {
  const off = await startGroupBerth(t, { env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: templates.dev }) } })
  assertRefused(await off.boss.call('GET', '/api/admin/environments'), 404)
  assertRefused(await make(off.boss, 'x', from('a'), null), 404)
  const admins = await startGroupBerth(t, { env: { ...env, ENVIRONMENTS: 'admins' } })
  const manager = await admins.signUp('mia@x.org')
  const { id } = await admins.group({ name: 'physics' }, [], [manager])
  assertRefused(await make(manager, 'x', from('open:1'), id), 403)
  assertRefused(await manager.call('GET', '/api/admin/environments'), 403)
  assertOk(await make(admins.boss, 'x', from('any.where/at:all'), null))
})

test('managers make, see and change environments of their own groups; members and others do not', async () => {
  assertOk(await make(mia, 'lab', from('physics:1')))
  assertOk(await make(boss, 'private', from('secret:1'), null))
  const shown = await mia.call('GET', '/api/admin/environments/lab')
  assert.deepEqual([shown.body.environment.group_id, shown.body.environment.group], [physics.id, 'physics'])
  assert.deepEqual(await names(mia), ['lab'])
  assert.deepEqual(await names(max), [])
  assert.deepEqual(await names(boss), ['lab', 'private'])
  assertRefused(await ann.call('GET', '/api/admin/environments'), 403)
  assertRefused(await make(ann, 'mine', from('open:1')), 403)
  assertRefused(await make(mia, 'mine', from('open:1'), null), 400)
  assertRefused(await make(mia, 'mine', from('open:1'), chemistry.id), 403)
  for (const by of [max, ann]) {
    assertRefused(await by.call('GET', '/api/admin/environments/lab'), 403)
    assertRefused(await by.call('PATCH', '/api/admin/environments/lab', { description: 'x' }), 403)
    assertRefused(await by.call('POST', '/api/admin/environments/lab/build'), 403)
    assertRefused(await by.call('DELETE', '/api/admin/environments/lab'), 403)
  }
  assertRefused(await mia.call('GET', '/api/admin/environments/private'), 403)
  assertOk(await mia.call('PATCH', '/api/admin/environments/lab', { description: 'x' }))
  assertRefused(await mia.call('PATCH', '/api/admin/environments/lab', { group_id: chemistry.id }), 403)
  assertRefused(await mia.call('DELETE', '/api/admin/environments/lab'), 409)
})

test('a manager builds on images of the templates that members of the group may launch, and on no others', async () => {
  const sources: [object, boolean][] = [
    [from('open:1'), true],
    [from('docker.io/library/physics:1'), true],
    [from('scratch', 'physics:1'), true],
    [{ base: 'open:1', run: ['x'] }, true],
    [from('chemistry:1'), false],
    [from('physics'), false],
    [from('physics@sha256:00'), false],
    [from('PHYSICS:1'), false],
    [{ base: 'secret:1', apt: ['jq'] }, false],
    [{ dockerfile: 'FROM open:1\nCOPY --from=chemistry:1 / /' }, false],
    [{ dockerfile: 'ARG X=chemistry:1\nFROM $X' }, false],
    [{ dockerfile: 'FROM open:1 AS a\nFROM a\nCOPY --from=a / /' }, true],
    [{ git: 'http://127.0.0.1:1/x.git' }, false],
  ]
  for (const [source, isAllowed] of sources) {
    const reply = await mia.call('POST', '/api/admin/environment-checks', { source, group_id: physics.id })
    if (isAllowed) assertOk(reply)
    else assertRefused(reply, 400)
    const changed = await mia.call('PATCH', '/api/admin/environments/lab', { source })
    assert.equal(changed.status, isAllowed ? 200 : 400, JSON.stringify(source))
  }
  const named = await mia.call('POST', '/api/admin/environment-checks', {
    source: from('chemistry:1'),
    group_id: physics.id,
  })
  assert.match(named.body.error, /chemistry:1 .*: open:1, physics:1\./)
})

test('BUILD_BASES names what managers build on instead', async (t) => {
  const other = await startGroupBerth(t, {
    env: { ...env, ENVIRONMENTS: 'managers', BUILD_BASES: 'python:3*, quay.io/course/*', BUILD_GIT_HOSTS: 'git.x.org' },
  })
  const manager = await other.signUp('mia@x.org')
  const { id } = await other.group({ name: 'physics' }, [], [manager])
  const check = (source: object) => manager.call('POST', '/api/admin/environments', { name: 'x', source, group_id: id })
  for (const image of ['open:1', 'python:2', 'quay.io/other/x', 'evil/python:3'])
    assertRefused(await check(from(image)), 400)
  const elsewhere = ['git.x.org.evil.org', 'git.x.org\\@127.0.0.1:1', 'git.x.org@127.0.0.1', 'git.x.org?@127.0.0.1']
  for (const host of elsewhere) assertRefused(await check({ git: `https://${host}/x.git` }), 400)
  assertOk(await check({ git: 'https://git.x.org/x.git', ref: 'main', path: 'week 1' }))
  assertOk(await other.boss.call('PATCH', '/api/admin/environments/x', { source: from('any:1') }))
  assertOk(await manager.call('PATCH', '/api/admin/environments/x', { source: from('python:3.13') }))
})

test('what reaches beyond a build is refused with the number of its line', async () => {
  const lines = [
    'ADD https://x.org/y /y',
    'ADD ["http://169.254.169.254/", "/y"]',
    'RUN --mount=type=bind,from=chemistry:1,target=/x cp -r /x /y',
    'RUN --mount=type=secret,id=x cat /run/secrets/x',
    'RUN --network=host wget -O - http://127.0.0.1/',
    'RUN --security=insecure true',
    'COPY --from=chemistry:1 / /',
    'ONBUILD COPY --from=chemistry:1 / /',
    'LABEL berth.build=other',
    'RUN <<EOF',
    'FROM --platform=linux/arm64 open:1',
    'FROM open:1@sha256:00',
    'INCLUDE other',
  ]
  for (const line of lines) {
    const source = { dockerfile: `FROM open:1\n${line}\n` }
    const reply = await mia.call('POST', '/api/admin/environment-checks', { source, group_id: physics.id })
    assertRefused(reply, 400)
    assert.match(reply.body.error, /^Line 2\b|chemistry:1|sha256:00/, line)
  }
  const syntax = { dockerfile: '# syntax=docker.io/evil/reader\nFROM open:1\n' }
  assertRefused(await boss.call('POST', '/api/admin/environment-checks', { source: syntax }), 400)
})

test('four repositories at most are looked at for checks at the same time, and two of one person', async (t) => {
  const vice = await signUp('vice@x.org')
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const end = () => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  }
  t.after(end)
  const source = (at: number) => ({ git: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/${at}.git` })
  const check = (at: number, by = boss) => by.call('POST', '/api/admin/environment-checks', { source: source(at) })
  const opened = async (count: number) => {
    for (const until = Date.now() + waitLimit(20_000); sockets.size < count && Date.now() < until;) await sleep(20)
  }
  const two = [check(1), check(2)]
  await opened(2)
  const third = await check(3)
  assertRefused(third, 409)
  assert.match(third.body.error, /^Already 2 repositories are being checked/)
  const four = [...two, check(3, vice), check(4, vice)]
  await opened(4)
  const fifth = await check(5)
  assertRefused(fifth, 409)
  assert.match(fifth.body.error, /^Already 4 repositories are being checked/)
  assertOk(await boss.call('POST', '/api/admin/environment-checks', { source: from('any:1') }))
  end()
  for (const reply of await Promise.all(four)) assertRefused(reply, 400)
})

test('a manager makes no environment that a type of others uses', async () => {
  for (const name of ['shared', 'both']) {
    const refused = await make(mia, name, from('open:1'))
    assertRefused(refused, 403)
    assert.match(refused.body.error, new RegExp(name))
  }
})

// PostgreSQL refused the number itself: 500, and a stack in the log, as often as a manager sent it.
test('a number that is no id of a group is refused with 400', async () => {
  for (const group_id of [1e300, 2 ** 53, 0, -1]) {
    const source = from('a')
    assertRefused(await boss.call('POST', '/api/admin/environments', { name: 'x', source, group_id }), 400)
    assertRefused(await boss.call('PATCH', '/api/admin/environments/lab', { group_id }), 400)
    assertRefused(await mia.call('POST', '/api/admin/environment-checks', { source, group_id }), 400)
  }
})

test('what is no environment is refused', async () => {
  const wrong: object[] = [
    { name: 'Upper', source: from('a') },
    { name: 'a--b', source: from('a') },
    { name: 'x', source: {} },
    { name: 'x', source: { dockerfile: 'FROM a', git: 'https://x.org/y' } },
    { name: 'x', source: { git: 'file:///etc' } },
    { name: 'x', source: { git: 'https://user:password@x.org/y' } },
    { name: 'x', source: { git: 'https://x.org/y', ref: '--upload-pack=x' } },
    { name: 'x', source: { base: 'a', apt: ['jq; rm -rf /'] } },
    { name: 'x', source: { base: 'a', pip: ["x' y"] } },
    { name: 'x', source: { base: 'a', npm: ['--prefix=/'] } },
    { name: 'x', source: { base: 'a\nRUN x' } },
    { name: 'x', source: { dockerfile: 'RUN x' } },
  ]
  for (const body of wrong) assertRefused(await boss.call('POST', '/api/admin/environments', body), 400)
  assertRefused(await make(boss, 'lab', from('a'), null), 409)
  assertRefused(await make(boss, 'x', from('a'), 999), 404)
  assertRefused(await boss.call('POST', '/api/admin/environments/lab/versions/9/publish'), 404)
  assertRefused(await boss.call('GET', '/api/admin/environments/lab/versions/x/log'), 404)
})
