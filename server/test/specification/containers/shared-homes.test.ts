import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth, type Berth, type Person } from '#test/support/berth.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { homesOf } from '#test/support/engine/homes.ts'
import { waitFor } from '#test/support/program.ts'

/** Homes of a person (contract, section 15): several types of a person have one home. */
const ends: (() => Promise<void>)[] = []
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** Types `one` and `two`, with a home at another place in each, and `apart` with its own; `fields` for the first two. */
async function templates(fields: Record<string, unknown> = { home_of: 'user' }): Promise<string> {
  const base = { image: await testImage(), port: 8080, memory: '64m' }
  return JSON.stringify({
    apart: { ...base },
    one: { ...base, display_name: 'Notebook', home: '/home/berth', ...fields },
    // A new volume takes over owner and mode of this folder, and the image has none at the other one.
    two: { ...base, display_name: 'Editor', home: fields.home_of ? '/workspace' : '/home/berth', ...fields },
  })
}

let berth: Berth
let boss: Person
before(async () => {
  berth = await startBerth(lifetime, { env: { SNAPSHOTS: 'on', CONTAINER_TEMPLATES: await templates() } })
  boss = await berth.administrator()
})

async function restartWith(fields: Record<string, unknown>): Promise<void> {
  await berth.close()
  const { dataDir, installation } = berth
  const env = { SNAPSHOTS: 'on', CONTAINER_TEMPLATES: await templates(fields) }
  berth = await startBerth(lifetime, { dataDir, installation, env })
}

function as(person: Person) {
  const call = (method: string, path: string, body?: object) =>
    berth.call(method, path, { token: person.token, ...(body && { body }) })
  const launch = async (type: string): Promise<string> => {
    const reply = await call('POST', `/api/container/launch/${type}`)
    assertOk(reply)
    return reply.body.container_id
  }
  return {
    call,
    launch,
    stop: async (type: string) => assertOk(await call('POST', `/api/container/stop/${type}`)),
    run: async (type: string, script: string) => (await execInContainer(await launch(type), script)).trim(),
    entries: async () => (await call('GET', '/api/user/containers')).body.containers as Entry[],
    records: async () => {
      const { body } = await berth.call('GET', `/api/admin/users?q=${person.auth.user.email}`, { token: boss.token })
      return body.users[0].containers as { id: number; container_type: string }[]
    },
  }
}

interface OwnHome {
  readonly id: string
  readonly types: string[]
  readonly is_former: boolean
}

interface Entry {
  readonly type: string
  readonly home: string | null
}

const remove = async (id: number | undefined) =>
  berth.call('DELETE', `/api/admin/containers/${id}?purge=true`, { token: boss.token })

test('several types have one home at once, each at its own place, and a type that does not say so has its own', async () => {
  const person = await berth.signUpWithoutContainer('ann@x.org')
  const ann = as(person)
  await ann.run('one', 'echo saved > /home/berth/file')
  assert.equal(await ann.run('two', 'cat /workspace/file && echo more >> /workspace/file'), 'saved')
  assert.equal(await ann.run('one', 'cat /home/berth/file'), 'saved\nmore', 'while both run')
  await assert.rejects(ann.run('apart', 'cat /home/berth/file'), /No such file/)
  assert.equal((await homesOf(berth, person.id)).length, 2)
  assert.deepEqual(
    (await ann.entries()).map(({ type, home }) => [type, home]),
    [
      ['apart', 'type'],
      ['one', 'user'],
      ['two', 'user'],
    ],
  )
})

test('a restore and a reset name the containers with the home that run, and want all of them stopped', async () => {
  const ann = as(await berth.signUpWithoutContainer('bea@x.org'))
  await ann.run('one', 'echo first > /home/berth/file')
  await ann.launch('two')
  await ann.stop('one')
  const refused = await ann.call('POST', '/api/container/snapshots/one')
  assertRefused(refused, 409)
  assert.match(refused.body.error, /Editor/)
  assert.doesNotMatch(refused.body.error, /Notebook/)
  await ann.stop('two')
  const taken = await ann.call('POST', '/api/container/snapshots/one')
  assertOk(taken)
  const listed = await ann.call('GET', '/api/container/snapshots/two')
  assert.deepEqual(
    listed.body.snapshots.map(({ id }: { id: string }) => id),
    [taken.body.snapshot.id],
    'there is one list for one home',
  )
  await ann.launch('one')
  await ann.launch('two')
  const restore = `/api/container/snapshots/two/${taken.body.snapshot.id}/restore`
  for (const path of [restore, '/api/container/reset/one']) {
    const both = await ann.call('POST', path)
    assertRefused(both, 409)
    assert.match(both.body.error, /Notebook.*Editor/)
  }
  await ann.stop('one')
  await ann.stop('two')
  const restored = await ann.call('POST', restore)
  assertOk(restored)
  assert.equal(await ann.run('one', `cat /home/berth/${restored.body.folder}/file`), 'first')
  await ann.stop('one')
  assertOk(await ann.call('POST', '/api/container/reset/two'))
  for (const [type, home] of [
    ['one', '/home/berth'],
    ['two', '/workspace'],
  ] as const)
    assert.equal(await ann.run(type, `ls ${home} | grep -c file || true`), '0', `${type} begins anew`)
})

test('a purge keeps a home that another record of the person uses and says so, and the last one removes it', async () => {
  const person = await berth.signUpWithoutContainer('cai@x.org')
  const cai = as(person)
  await cai.run('one', 'echo kept > /home/berth/file')
  await cai.launch('two')
  const [one, two] = ['one', 'two'].map(async (type) =>
    (await cai.records()).find(({ container_type }) => container_type === type),
  )
  const first = await remove((await one)?.id)
  assertOk(first)
  assert.match(first.body.message, /home is kept.*two/)
  assert.equal(await cai.run('two', 'cat /workspace/file'), 'kept')
  const last = await remove((await two)?.id)
  assertOk(last)
  assert.doesNotMatch(last.body.message, /home is kept/)
  await waitFor('the removal of the home', async () => (await homesOf(berth, person.id)).length === 0)
  assert.equal(await cai.run('one', 'ls /home/berth | grep -c file || true'), '0')
})

test('when types begin to share, the first one that has a home brings it, and each has its own again when they end', async () => {
  await restartWith({})
  const person = await berth.signUpWithoutContainer('dan@x.org')
  const dan = as(person)
  const late = as(await berth.signUpWithoutContainer('eve@x.org'))
  await dan.run('one', 'echo of one > /home/berth/file')
  await dan.run('two', 'echo of two > /home/berth/file')
  await late.run('two', 'echo of two > /home/berth/file')
  await restartWith({ home_of: 'user' })
  await dan.stop('two')
  assert.equal(await dan.run('two', 'cat /workspace/file'), 'of one')
  await late.stop('two')
  assert.equal(await late.run('one', 'cat /home/berth/file'), 'of two', 'the first has none')
  const homes = async () => (await dan.call('GET', '/api/user/homes')).body.homes as OwnHome[]
  const [own, former, ...none] = await homes()
  assert.deepEqual([own?.types, own?.is_former, none], [['one', 'two'], false, []])
  assert.deepEqual([former?.types, former?.is_former], [['two'], true])
  const offered = await dan.call('POST', `/api/user/homes/${former?.id}/download`)
  assertOk(offered)
  const file = await fetch(`${berth.url}${offered.body.path}`, {
    headers: { authorization: `Bearer ${person.token}`, host: 'spawner.berth.example' },
  })
  assert.equal(file.status, 200)
  const archive = gunzipSync(Buffer.from(await file.arrayBuffer()))
  assert.ok(archive.includes('of two') && !archive.includes('of one'))
  assertRefused(await late.call('POST', `/api/user/homes/${former?.id}/download`), 404)
  assertRefused(await dan.call('DELETE', `/api/user/homes/${own?.id}`), 409)
  await restartWith({})
  for (const type of ['one', 'two']) await dan.stop(type)
  assert.equal(await dan.run('one', 'cat /home/berth/file'), 'of one')
  assert.equal(await dan.run('two', 'cat /home/berth/file'), 'of two')
  assert.deepEqual(await homes(), [], 'each is the home of one type')
  await restartWith({ home_of: 'user' })
  const [, left] = await homes()
  assertRefused(await dan.call('DELETE', `/api/user/homes/${left?.id}`), 409)
  await dan.stop('two')
  assert.equal(await dan.run('two', 'cat /workspace/file'), 'of one')
  assertOk(await dan.call('DELETE', `/api/user/homes/${left?.id}`))
  assert.deepEqual(
    (await homes()).map(({ types }) => types),
    [['one', 'two']],
  )
})
