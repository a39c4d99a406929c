import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { stopReasonOf } from '#test/support/event-stream.ts'
import { startGroupBerth, type Signed } from '#test/support/group-berth.ts'
import { waitLimit } from '#test/support/extent.ts'

const { berth, engine, boss, signUp, group, launch } = await startGroupBerth({ after }, { env: { MAX_PER_USER: '3' } })
const [ann, ben] = [await signUp('ann@x.org'), await signUp('ben@x.org')]
const typesOf = async (user: Signed): Promise<string[]> =>
  (await user.call('GET', '/api/user/containers')).body.containers.map((each: { type: string }) => each.type)
const stop = (user: Signed, type: string) => user.call('POST', `/api/container/stop/${type}`)
const past = '2020-01-01T00:00:00Z'

async function until(what: () => boolean | Promise<boolean>, limit = 15_000): Promise<void> {
  const end = Date.now() + waitLimit(limit)
  while (!(await what())) {
    assert.ok(Date.now() < end, 'it did not happen in time')
    await sleep(50)
  }
}

test('a type of groups is seen and launched by their members and by administrators alone', async () => {
  await group({ name: 'physics' }, [ann])
  assert.deepEqual(await typesOf(ann), ['dev', 'prod', 'lab', 'physics', 'science'])
  assert.deepEqual(await typesOf(ben), ['dev', 'prod', 'lab'])
  assert.deepEqual(await typesOf(boss), ['dev', 'prod', 'lab', 'physics', 'science'])
  assertOk(await launch(ann, 'physics'))
  assertOk(await launch(boss, 'physics'))
  assertRefused(await launch(ben, 'physics'), 403)
  assertRefused(await ben.call('POST', '/api/container/restart/physics'), 403)
  assertOk(await launch(ben, 'dev'))
  const unknown = await launch(ben, 'nothing')
  assertRefused(unknown, 400)
  assert.doesNotMatch(unknown.body.error, /physics|science/)
})

test('one of several groups is enough, and a group that is made later counts at once', async () => {
  const eva = await signUp('eva@x.org')
  assertRefused(await launch(eva, 'science'), 403)
  await group({ name: 'chemistry' }, [eva])
  assertOk(await launch(eva, 'science'))
  assertRefused(await launch(eva, 'physics'), 403)
})

test('a former member keeps the home and what runs, and launches it no more', async () => {
  const { id } = (await boss.call('GET', '/api/admin/groups?q=physics')).body.groups[0]
  assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${ann.id}`))
  assert.ok(engine.running.includes(`physics of ${ann.id}`))
  assert.deepEqual(await typesOf(ann), ['dev', 'prod', 'lab'])
  assertRefused(await launch(ann, 'physics'), 403)
  assertOk(await stop(ann, 'physics'))
})

// A launch may wait for an hour, for a GPU: it was allowed by what had been true when it was asked for.
test('who leaves the group while the launch waits gets no container', async (t) => {
  const own = await startGroupBerth(t, { env: { LAUNCH_PARALLEL: '1' } })
  const [eva, max] = [await own.signUp('eva@x.org'), await own.signUp('max@x.org')]
  const { id } = await own.group({ name: 'physics' }, [eva])
  const [begun, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  own.engine.before = async (call) => {
    if (call !== 'start') return
    begun.resolve()
    await opened.promise
  }
  const first = own.launch(max, 'lab')
  await begun.promise
  const waiting = own.launch(eva, 'physics')
  // Longer than a second: a shorter wait asks nothing anew.
  await sleep(1_500)
  assertOk(await own.boss.call('DELETE', `/api/groups/${id}/members/${eva.id}`))
  opened.resolve()
  assertOk(await first)
  assertRefused(await waiting, 403)
  assert.ok(!own.engine.running.includes(`physics of ${eva.id}`))
})

test('a limit of a group refuses with 409 and says which limit of which group', async () => {
  const eva = await signUp('limits@x.org')
  const cases = [
    ['running', { running: 1 }],
    ['memory', { memory: 1024 ** 3 }],
    ['cpus', { cpus: 0.9 }],
  ] as const
  for (const [limit, limits] of cases) {
    const { id, name } = await group({ name: `limits ${limit}`, limits }, [eva])
    assertOk(await launch(eva, 'dev'))
    assertOk(await launch(eva, 'dev'))
    const refused = await launch(eva, limit === 'memory' ? 'prod' : 'lab')
    assertRefused(refused, 409, ['reason', 'limit', 'group'])
    assert.deepEqual([refused.body.limit, refused.body.group], [limit, name])
    assert.ok(refused.body.error.includes(name) && refused.body.error.includes(limit), refused.body.error)
    assertOk(await stop(eva, 'dev'))
    assertOk(await boss.call('DELETE', `/api/admin/groups/${id}`))
  }
})

// "Stop one of yours first" sent students to stop what they worked in, and the launch was refused all the same.
test('where a container alone needs more than a limit of a group, no stop of another one is advised', async () => {
  const eva = await signUp('alone@x.org')
  for (const limits of [{ memory: 16 * 1024 ** 2 }, { cpus: 0.01 }]) {
    const { id } = await group({ name: 'Too small', limits }, [eva])
    const { error } = (await launch(eva, 'lab')).body
    assert.match(error, /^The group Too small allows .* together, and this one alone needs .* Ask your administrator/)
    assertOk(await boss.call('DELETE', `/api/admin/groups/${id}`))
  }
})

test('a visit of a stopped container that a limit of a group keeps from starting is told so in the words of a refused launch', async () => {
  const eva = await signUp('visit@x.org')
  const { name } = await group({ name: 'One at a time', types: ['dev', 'prod'], limits: { running: 1 } }, [eva])
  assertOk(await stop(eva, 'dev'))
  assertOk(await launch(eva, 'prod'))
  const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const language of ['en', 'de']) {
    const ask = (method: string, path: string, headers: object = {}) =>
      berth.call(method, path, { token: eva.token, headers: { 'accept-language': language, ...headers } })
    const launched = await ask('POST', '/api/container/launch/dev')
    assertRefused(launched, 409, ['reason', 'limit', 'group'])
    const { error } = launched.body
    assert.ok(error.includes(name), error)
    const program = await ask('GET', '/visit-dev/')
    assert.equal(program.status, 503)
    assert.ok(
      !program.body.error.includes(error),
      'it may not start what was stopped by request, and nothing is refused',
    )
    assert.match(program.headers.get('retry-after') ?? '', /^\d+$/)
    const browser = await ask('GET', '/visit-dev/', page)
    assert.equal(browser.status, 503)
    assert.match(browser.headers.get('content-type') ?? '', /^text\/html/)
    assert.ok(browser.text.replaceAll('&quot;', '"').includes(error), browser.text)
  }
  assert.ok(!engine.running.includes(`dev of ${eva.id}`))
})

test("limits count containers of the group's types alone, for its members alone", async () => {
  const [eva, tim] = [await signUp('types@x.org'), await signUp('tim@x.org')]
  const { id } = await group({ name: 'One of dev and prod', types: ['dev', 'prod'], limits: { running: 1 } }, [eva])
  assertOk(await launch(eva, 'lab'))
  assertOk(await launch(eva, 'dev'))
  assertRefused(await launch(eva, 'prod'), 409, ['reason', 'limit', 'group'])
  for (const type of ['dev', 'prod', 'lab']) assertOk(await launch(tim, type))
  assertRefused(await launch(boss, 'nothing'), 400)
  assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${eva.id}`))
  assertOk(await launch(eva, 'prod'))
})

test('with two groups the limits of both hold, beside MAX_PER_USER', async () => {
  const eva = await signUp('both@x.org')
  await group({ name: 'Two', limits: { running: 2 } }, [eva])
  const tight = await group({ name: 'One dev', types: ['dev', 'lab'], limits: { running: 1 } }, [eva])
  assertOk(await launch(eva, 'dev'))
  assert.equal((await launch(eva, 'lab')).body.group, 'One dev')
  assertOk(await launch(eva, 'prod'))
  assertOk(await boss.call('DELETE', `/api/admin/groups/${tight.id}`))
  assert.equal((await launch(eva, 'lab')).body.group, 'Two')
})

test('a limit of homes refuses with 409 once they are measured, and another type of the same member goes on', async () => {
  const eva = await signUp('disk@x.org')
  const volume = 'home of disk-dev'
  Object.assign(engine.runtime, {
    homes: async () => [{ volume, owner: { userId: eva.id, slug: 'disk', type: 'dev' } }],
    measureHomes: async () => new Map([[volume, 2_000_000]]),
  })
  const { name } = await group({ name: 'Small', types: ['dev'], limits: { disk: 1_000_000 } }, [eva])
  assertOk(await stop(eva, 'dev'))
  await until(async () => {
    const { status } = await launch(eva, 'dev')
    if (status === 200) assertOk(await stop(eva, 'dev'))
    return status === 409
  })
  const refused = await launch(eva, 'dev')
  assertRefused(refused, 409, ['reason', 'limit', 'group'])
  assert.deepEqual([refused.body.limit, refused.body.group], ['disk', name])
  assertOk(await launch(eva, 'lab'))
})

test('of launches at the same moment exactly as many pass as the limit allows', async () => {
  for (let round = 0; round < 5; round++) {
    const eva = await signUp(`race${round}@x.org`)
    const { id } = await group({ name: `Race ${round}`, limits: { running: 1 } }, [eva])
    const all = await Promise.all(['dev', 'prod', 'lab'].map((type) => launch(eva, type)))
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 409, 409])
    assertOk(await boss.call('DELETE', `/api/admin/groups/${id}`))
  }
})

test('what a group has when it expires is stopped within 30 s and not launched again; other types go on', async () => {
  const eva = await signUp('expiry@x.org')
  const { id } = await group({ name: 'Ends', types: ['dev'] }, [eva])
  for (const type of ['dev', 'prod']) assertOk(await launch(eva, type))
  const expires_at = new Date(Date.now() + 500).toISOString()
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at }))
  await until(() => !engine.running.includes(`dev of ${eva.id}`), 30_000)
  assert.equal(await stopReasonOf(berth, eva.token), 'group-end')
  const refused = await launch(eva, 'dev')
  assertRefused(refused, 403)
  assert.match(refused.body.error, /Ends/)
  // Its card looked as if it could be launched.
  const cards = (await eva.call('GET', '/api/user/containers')).body.containers as Record<string, unknown>[]
  const said = Object.fromEntries(cards.map(({ type, launch_refused }) => [type, launch_refused]))
  assert.deepEqual([said.dev, said.prod], [refused.body.error, undefined])
  assert.ok(engine.running.includes(`prod of ${eva.id}`))
  assert.ok(engine.done.includes(`stop dev of ${eva.id}`))
  assert.ok(engine.done.every((each) => !each.startsWith('remove')))
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null }))
  assertOk(await launch(eva, 'dev'))
})

test('a paused container of an expired group is stopped, and a request does not wake a stopped one', async () => {
  const eva = await signUp('paused@x.org')
  const { id } = await group({ name: 'Pauses', types: ['dev', 'prod'] }, [eva])
  for (const type of ['dev', 'prod']) assertOk(await launch(eva, type))
  assertOk(await stop(eva, 'prod'))
  const [made] = [...engine.made.values()].filter(
    ({ spec }) => spec.owner.userId === eva.id && spec.owner.type === 'dev',
  )
  assert.ok(made)
  await engine.runtime.pause(made.id)
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: past }))
  await until(() => made.state === 'exited')
  const woken = await berth.call('GET', '/paused-prod/', { token: eva.token })
  assert.equal(woken.status, 503)
  assert.ok(!engine.running.includes(`prod of ${eva.id}`))
})

test('another group that has not expired and names the type keeps it for its members', async () => {
  const eva = await signUp('two-courses@x.org')
  await group({ name: 'Last year', expires_at: past }, [eva])
  assertRefused(await launch(eva, 'dev'), 403)
  await group({ name: 'This year', types: ['dev'] }, [eva])
  assertOk(await launch(eva, 'dev'))
  assertRefused(await launch(eva, 'prod'), 403)
})

test('who joins an expired group loses what runs of its types', async () => {
  const eva = await signUp('joins-late@x.org')
  assertOk(await launch(eva, 'lab'))
  await group({ name: 'Over before', types: ['lab'], expires_at: past }, [eva])
  await until(() => !engine.running.includes(`lab of ${eva.id}`))
})

test('a template that names a group which does not exist is said at the system page, and is administrators’ alone', async () => {
  const { id } = (await boss.call('GET', '/api/admin/groups?q=chemistry')).body.groups[0]
  const warnings = async (): Promise<string[]> => (await boss.call('GET', '/api/admin/system')).body.warnings
  assert.ok(!(await warnings()).some((text) => text.includes('chemistry')))
  assertOk(await boss.call('DELETE', `/api/admin/groups/${id}`))
  assert.ok((await warnings()).some((text) => text.includes('chemistry')))
})
