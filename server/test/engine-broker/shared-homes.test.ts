import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { waitFor } from '#test/support/program.ts'
import { startBroker } from './broker-rig.ts'

/** Homes of a person, folders of groups and homes on a file server (contract, section 15) through the broker, which refuses nothing of it. */

const ends: (() => Promise<void>)[] = []
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const broker = await startBroker(lifetime, { allow: (root) => `writable=${root}/homes/*` })
const homes = path.join(broker.root, 'homes')
mkdirSync(homes)
const base = { image: await testImage(), port: 8080, memory: '64m', group_folders: '/groups' }
const templates = {
  notebook: { ...base, home: '/home/berth', home_of: 'user' },
  editor: { ...base, home: '/workspace', home_of: 'user' },
  served: { ...base, home_source: { path: `${homes}/{slug}`, create: '1000:1000' }, user: '1000:1000' },
}
const berth = await startBerth(lifetime, {
  installation: broker.installation,
  engine: { address: broker.address, ask: askEngine },
  pace: { every: 500 },
  env: { CONTAINER_TEMPLATES: JSON.stringify(templates), ALLOWED_MOUNT_ROOTS: broker.root, SNAPSHOTS: 'on' },
})
const boss = await berth.administrator()
const [teacher, student, stranger] = [
  await berth.signUpWithoutContainer('teacher@x.org'),
  await berth.signUpWithoutContainer('student@x.org'),
  await berth.signUpWithoutContainer('stranger@x.org'),
]
const run = async (person: Person, type: string, script: string) => {
  const launched = await person.call('POST', `/api/container/launch/${type}`)
  assertOk(launched)
  return (await execInContainer(launched.body.container_id, script)).trim()
}
const stop = async (person: Person, type: string) => assertOk(await person.call('POST', `/api/container/stop/${type}`))

test('two types have one home at once, of which a snapshot is restored', async () => {
  await run(student, 'notebook', 'echo saved > /home/berth/file')
  assert.equal(await run(student, 'editor', 'cat /workspace/file'), 'saved')
  for (const type of ['notebook', 'editor']) await stop(student, type)
  const taken = await student.call('POST', '/api/container/snapshots/editor')
  assertOk(taken)
  const restored = await student.call('POST', `/api/container/snapshots/notebook/${taken.body.snapshot.id}/restore`)
  assertOk(restored)
  assert.equal(await run(student, 'editor', `cat /workspace/${restored.body.folder}/file`), 'saved')
  await stop(student, 'editor')
})

test('the folder of a group is written by its manager, read by its members, and removed', async () => {
  const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics' } })
  assertOk(made)
  const { id } = made.body.group
  for (const [email, role] of [
    ['teacher@x.org', 'manager'],
    ['student@x.org', 'member'],
  ])
    assertOk(await boss.call('POST', `/api/groups/${id}/members`, { body: { emails: [email], role } }))
  assertOk(await teacher.call('PUT', `/api/groups/${id}/folder`, { body: { name: 'physics', members: 'read' } }))
  await run(teacher, 'notebook', 'echo task > /groups/physics/task && chmod 644 /groups/physics/task')
  assert.equal(await run(student, 'notebook', 'cat /groups/physics/task'), 'task')
  assert.match(await run(student, 'notebook', 'echo no > /groups/physics/mine 2>&1 || true'), /Read-only file system/)
  assert.equal(await run(stranger, 'notebook', 'ls /groups 2>/dev/null || echo none'), 'none')
  for (const person of [teacher, student, stranger]) await stop(person, 'notebook')
  assertOk(await boss.call('DELETE', `/api/groups/${id}/folder?purge=true`))
  const filters = JSON.stringify({ label: [`berth.instance=${broker.installation}`, 'berth.folder=group'] })
  const folders = async () =>
    (await askEngine<{ Volumes: unknown[] | null }>('GET', '/volumes', { query: { filters } })).Volumes ?? []
  await waitFor('the removal of the folder', async () => (await folders()).length === 0)
})

test('a home on a file server is made for its owner, where the broker may mount it', async () => {
  await run(student, 'served', 'echo served > /home/berth/file')
  const home = path.join(homes, student.slug)
  const { uid, gid, mode } = statSync(home)
  assert.deepEqual([uid, gid, mode & 0o777], [1000, 1000, 0o700])
  assert.equal(readFileSync(path.join(home, 'file'), 'utf8'), 'served\n')
  assert.deepEqual(broker.lines, [], 'nothing was refused')
})
