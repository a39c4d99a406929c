import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Berth } from '#test/support/berth.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { homesOf, pathsInHome } from '#test/support/engine/homes.ts'

/** Snapshots of homes on a real engine. */
const ends: (() => Promise<void>)[] = []
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const env = { SNAPSHOTS: 'on', SNAPSHOT_MAX_SIZE: '16m', CONTAINER_TEMPLATES: await testTemplates() }
let berth = await startBerth(lifetime, { env })
await berth.administrator()
const ann = await berth.signUp('ann@x.org')
const call = (method: string, target: string, body?: object | string) =>
  berth.call(method, target, { token: ann.token, ...(body && { body }) })
const snapshotsPath = '/api/container/snapshots/dev'
const launch = async () => {
  const reply = await call('POST', '/api/container/launch/dev')
  assertOk(reply)
  return reply.body.container_id as string
}
const stop = async () => assertOk(await call('POST', '/api/container/stop/dev'))
const inHome = async (script: string) => (await execInContainer(await launch(), script)).trim()
const list = async () => (await call('GET', snapshotsPath)).body.snapshots as { id: string; reason: string }[]
const take = async () => {
  const reply = await call('POST', snapshotsPath)
  assertOk(reply)
  return reply.body.snapshot.id as string
}
const helpers = async (of: Berth) =>
  askEngine<unknown[]>('GET', '/containers/json', {
    query: { all: '1', filters: JSON.stringify({ label: [`berth.helper=${of.installation}`] }) },
  })

test('a snapshot of a stopped container is restored beside what is there, with owners, modes and links', async () => {
  await inHome('mkdir -p notes && echo first > notes/a && chmod 640 notes/a && ln -s a notes/link && echo b > b')
  await stop()
  const id = await take()
  await inHome('echo changed > notes/a && rm b')
  await stop()
  const restored = await call('POST', `${snapshotsPath}/${id}/restore`)
  assertOk(restored)
  const { folder } = restored.body
  assert.match(folder, /^restored-2\d{3}-/)
  const seen = await inHome(
    `cat notes/a ${folder}/notes/link ${folder}/b; stat -c '%a %u' ${folder}/notes/a notes/a; ls`,
  )
  assert.match(seen, /^changed\nfirst\nb\n640 (\d+)\n640 \1\n/)
  assert.ok(!seen.split('\n').includes('b', 5), 'what was deleted stays deleted')
  assert.deepEqual(await helpers(berth), [])
})

test('a folder is named with a slash at its end and from the home on, too, and a dot means all', async () => {
  await stop()
  const [{ id } = { id: '' }] = await list()
  const restored = async (path: string) => {
    const { status, body } = await call('POST', `${snapshotsPath}/${id}/restore`, { path })
    assert.equal(status, 200, `${path} was refused with 404`)
    const found = (await pathsInHome(berth, ann.id)).filter((each) => each.startsWith(`${body.folder}/`))
    return found.map((each) => each.slice(body.folder.length + 1))
  }
  const all = await restored('')
  assert.ok(all.includes('b') && all.includes('notes/a'), all.join())
  const notes = all.filter((each) => /^notes(\/|$)/.test(each))
  for (const path of ['notes/', './notes', './notes/.']) assert.deepEqual(await restored(path), notes, path)
  for (const path of ['.', './']) assert.deepEqual(await restored(path), all, path)
})

test('one folder alone is restored, and a path that is not in the snapshot is 404 and leaves the home as it was', async () => {
  await stop()
  const [{ id } = { id: '' }] = await list()
  const { body } = await call('POST', `${snapshotsPath}/${id}/restore`, { path: 'notes' })
  assert.equal(await inHome(`ls ${body.folder}`), 'notes')
  await stop()
  const before = await pathsInHome(berth, ann.id)
  // The folder was made before the path was looked for, and stayed, empty.
  assertRefused(await call('POST', `${snapshotsPath}/${id}/restore`, { path: 'nonsense' }), 404)
  assertRefused(await call('POST', `${snapshotsPath}/${id}/restore`, { path: '../../etc' }), 404)
  // A body that was cut short, or of another kind, counted as none: the whole home was restored.
  for (const body of ['{"path": "not', '["notes"]', '"notes"'])
    assertRefused(await call('POST', `${snapshotsPath}/${id}/restore`, body), 400)
  assert.deepEqual(await pathsInHome(berth, ann.id), before)
})

test('a snapshot that is removed while its restore waits is not found, which is no fault of the service', async () => {
  await stop()
  const id = await take()
  // The first holds the home while the other two arrive.
  const [taken, removed, restored] = await Promise.all([
    call('POST', snapshotsPath),
    call('DELETE', `${snapshotsPath}/${id}`),
    call('POST', `${snapshotsPath}/${id}/restore`),
  ])
  assertOk(taken)
  assertOk(removed)
  // In which order they arrived is not known.
  if (restored.status !== 200) assertRefused(restored, 404)
})

test('a home has at most three restores under way, so that other work on its container has its turn', async () => {
  await stop()
  const id = await take()
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) => call('POST', `${snapshotsPath}/${id}/restore`, { path: `none-${n}` })),
  )
  const statuses = replies.map(({ status }) => status).toSorted()
  // There are no such paths. One that is refused soon leaves its place to another.
  assert.ok(statuses.includes(429) && statuses.includes(404), statuses.join())
  assertRefused(await call('POST', `${snapshotsPath}/${id}/restore`, { path: 'none' }), 404)
})

test('nothing is read or written while the container runs', async () => {
  await launch()
  const [{ id } = { id: '' }] = await list()
  assertRefused(await call('POST', snapshotsPath), 409)
  assertRefused(await call('POST', `${snapshotsPath}/${id}/restore`), 409)
  assertRefused(await call('POST', '/api/container/reset/dev'), 409)
})

test('a launch that comes meanwhile begins after the snapshot, and finds all files', async () => {
  await inHome('head -c 12000000 /dev/urandom > large')
  await stop()
  const before = (await list()).length
  const [made, launched] = await Promise.all([call('POST', snapshotsPath), call('POST', '/api/container/launch/dev')])
  assertOk(launched)
  // The launch may have been first; then the container ran, and the snapshot was refused.
  assert.ok([200, 409].includes(made.status), made.text)
  assert.equal((await list()).length, made.status === 200 ? Math.min(before + 1, 4) : before)
  assert.equal(await inHome('stat -c %s large && rm large'), '12000000')
})

test('a home that is larger than the limit is refused, and nothing is left', async () => {
  await inHome('head -c 20000000 /dev/urandom > large')
  await stop()
  const before = await list()
  assertRefused(await call('POST', snapshotsPath), 409)
  assert.deepEqual(await list(), before)
  await inHome('rm large')
})

test('users have their own snapshots alone', async () => {
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  const [{ id } = { id: '' }] = await list()
  assert.deepEqual((await bob.call('GET', snapshotsPath)).body, { snapshots: [], has_starter_files: false })
  assertRefused(await bob.call('POST', `${snapshotsPath}/${id}/restore`), 404)
  assertRefused(await bob.call('DELETE', `${snapshotsPath}/${id}`), 404)
  for (const wrong of ['..%2f..%2fx', '1-manual', 'x'])
    assertRefused(await call('DELETE', `${snapshotsPath}/${wrong}`), 404)
  assertRefused(await call('POST', '/api/container/snapshots/nonsense'), 400)
})

test('a container gets another image only after a snapshot of its home, and the same image needs none', async () => {
  await stop()
  await berth.close()
  const image = `${berth.installation}:other`
  const { CONTAINER_TEMPLATES } = env
  const [repo = '', tag = ''] = image.split(':')
  const { image: before } = JSON.parse(CONTAINER_TEMPLATES).dev
  await askEngine('POST', `/images/${encodeURIComponent(before)}/tag`, { query: { repo, tag } })
  ends.unshift(() => askEngine('DELETE', `/images/${image}`, { query: { force: 'true' } }))
  const { dataDir, installation } = berth
  const reasons = async () => (await list()).map(({ reason }) => reason)
  berth = await startBerth(lifetime, {
    dataDir,
    installation,
    env: { ...env, CONTAINER_TEMPLATES: await testTemplates({ memory: '96m' }) },
  })
  const earlier = await reasons()
  await inHome('echo kept > kept')
  assert.deepEqual(await reasons(), earlier, 'another limit of memory is no other image')
  await stop()
  await berth.close()
  berth = await startBerth(lifetime, {
    dataDir,
    installation,
    env: { ...env, CONTAINER_TEMPLATES: await testTemplates({ image }) },
  })
  assert.equal(await inHome('cat kept'), 'kept')
  assert.equal((await reasons())[0], 'image')
})

test('a reset keeps a snapshot, and the next launch begins with a new home', async () => {
  await stop()
  const reply = await call('POST', '/api/container/reset/dev')
  assertOk(reply)
  assert.deepEqual(
    (await homesOf(berth, ann.id)).filter((name) => name.endsWith('-dev')),
    [],
  )
  assert.equal(await inHome('test -e kept || echo gone'), 'gone')
  await stop()
  const { body } = await call('POST', `${snapshotsPath}/${reply.body.snapshot.id}/restore`)
  assert.equal(await inHome(`cat ${body.folder}/kept`), 'kept')
})

test('a restore that the death of the process interrupted is completed at the next start, before a launch', async () => {
  await stop()
  const id = (await list()).find(({ reason }) => reason === 'reset')?.id ?? ''
  await berth.close()
  const { dataDir, installation } = berth
  const [volume = ''] = readdirSync(path.join(dataDir, 'snapshots/homes')).filter((name) => name.includes('-ann-'))
  const journal = path.join(dataDir, 'snapshots/restoring')
  mkdirSync(journal, { recursive: true })
  const pending = { userId: ann.id, type: 'dev', volume, id, only: '', folder: 'restored-later' }
  writeFileSync(path.join(journal, `${volume}.json`), JSON.stringify(pending))
  const unfinished = path.join(dataDir, 'snapshots/homes', volume, '1796119200000-manual.unfinished')
  writeFileSync(unfinished, 'a part')
  // A launch that was answered earlier began with a part of the folder, and the restore waited for its end.
  const onListening = (socket: string) => void (socket === 'api' && assert.ok(!existsSync(unfinished)))
  berth = await startBerth(lifetime, { dataDir, installation, env, pace: { every: 1_000 }, node: { onListening } })
  assert.equal(await inHome('cat restored-later/kept'), 'kept')
  assert.deepEqual(readdirSync(journal), [])
})

test('snapshots go with the account and its homes', async () => {
  assertOk(await berth.operate('DELETE', `/api/admin/users/${ann.id}?purge=true`))
  const left = () => readdirSync(path.join(berth.dataDir, 'snapshots/homes')).filter((name) => name.includes('-ann-'))
  for (let tries = 0; left().length > 0 && tries < 300; tries++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(left(), [])
})
