import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '#test/support/berth.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { waitFor } from '#test/support/program.ts'

/** Folders of groups (contract, section 15): managers write, members read or write, others do not see them. */
const ends: (() => Promise<void>)[] = []
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const types = JSON.parse(await testTemplates({ group_folders: '/groups' })) as { dev: Record<string, unknown> }
const inside = { ...types.dev, group_folders: '/home/berth/groups' }
const env = { CONTAINER_TEMPLATES: JSON.stringify({ ...types, inside }) }
const berth = await startBerth(lifetime, { env, pace: { every: 500, measureHomes: 8_000 } })
const boss = await berth.administrator()
const [teacher, student, stranger] = await Promise.all(
  ['teacher', 'student', 'stranger'].map((name) => berth.signUpWithoutContainer(`${name}@x.org`)),
)
assert.ok(teacher && student && stranger)

async function makeGroup(name: string, members: Record<string, 'member' | 'manager'>): Promise<number> {
  const made = await boss.call('POST', '/api/admin/groups', { body: { name } })
  assertOk(made)
  for (const [email, role] of Object.entries(members))
    assertOk(await boss.call('POST', `/api/groups/${made.body.group.id}/members`, { body: { emails: [email], role } }))
  return made.body.group.id
}

const setFolder = (person: Person, id: number, name: string, members: string) =>
  person.call('PUT', `/api/groups/${id}/folder`, { body: { name, members } })
const run = async (person: Person, script: string) => {
  const launched = await person.call('POST', '/api/container/launch/dev')
  assertOk(launched)
  return (await execInContainer(launched.body.container_id, script)).trim()
}
const stop = async (person: Person) => assertOk(await person.call('POST', '/api/container/stop/dev'))
const entryOf = async (person: Person) => (await person.call('GET', '/api/user/containers')).body.containers[0]
const foldersInEngine = async () => {
  const filters = JSON.stringify({ label: [`berth.instance=${berth.installation}`, 'berth.folder=group'] })
  const { Volumes } = await askEngine<{ Volumes: { Name: string }[] | null }>('GET', '/volumes', { query: { filters } })
  return (Volumes ?? []).length
}

const physics = await makeGroup('Physics', { 'teacher@x.org': 'manager', 'student@x.org': 'member' })

test('a folder is set by managers and administrators, and stands in the group', async () => {
  assertRefused(await setFolder(student, physics, 'physics', 'read'), 403)
  assertRefused(await setFolder(stranger, physics, 'physics', 'read'), 403)
  for (const name of ['Physics', '-a', 'a/b', '..', '', 'a'.repeat(40), 'ä'])
    assertRefused(await setFolder(teacher, physics, name, 'read'), 400)
  assertRefused(await setFolder(teacher, physics, 'physics', 'all'), 400)
  const set = await setFolder(teacher, physics, 'physics', 'read')
  assertOk(set)
  assert.deepEqual(set.body.group.folder, { name: 'physics', members: 'read' })
  const read = await boss.call('GET', `/api/admin/groups/${physics}`)
  assert.deepEqual(read.body.group.folder, { name: 'physics', members: 'read' })
  const other = await makeGroup('Chemistry', { 'stranger@x.org': 'member' })
  assert.equal((await boss.call('GET', `/api/admin/groups/${other}`)).body.group.folder, null)
  assertRefused(await setFolder(boss, other, 'physics', 'read'), 409)
})

test('managers write, members read what they wrote and cannot write, and others do not see it', async () => {
  // The container of a sign-up may have been started before there was a folder.
  for (const person of [teacher, student, stranger]) await stop(person)
  await run(teacher, 'echo task > /groups/physics/task && chmod 644 /groups/physics/task')
  assert.equal(await run(student, 'cat /groups/physics/task'), 'task')
  assert.match(await run(student, 'echo no > /groups/physics/mine 2>&1 || true'), /Read-only file system/)
  assert.equal(await run(stranger, 'ls /groups 2>/dev/null || echo none'), 'none')
})

test('the page of the group says how full the folder is, and where its manager opens it', async () => {
  const page = async (person: Person) => (await person.call('GET', `/api/groups/${physics}`)).body
  await run(teacher, 'head -c 3000000 /dev/zero > /groups/physics/large')
  await waitFor('a measurement', async () => (await page(teacher)).folder_bytes >= 3_000_000)
  const { folder_path, folder_type, group } = await page(teacher)
  assert.deepEqual([folder_path, folder_type, group.folder.name], ['/groups', 'dev', 'physics'])
  assert.equal((await page(boss)).folder_type, null, 'not a manager of the group')
  await run(teacher, 'rm /groups/physics/large')
})

test('other rights count from the next start, and until then the list says that the container is outdated', async () => {
  assert.equal((await entryOf(student)).is_outdated, undefined)
  assertOk(await setFolder(teacher, physics, 'physics', 'write'))
  assert.equal((await entryOf(student)).is_outdated, true)
  assert.equal((await entryOf(teacher)).is_outdated, undefined, 'a manager writes as before')
  assert.match(await run(student, 'echo no > /groups/physics/mine 2>&1 || true'), /Read-only file system/)
  await stop(student)
  assert.equal((await entryOf(student)).is_outdated, undefined, 'what is stopped has it from its next start anyway')
  await run(student, 'echo answer > /groups/physics/answer')
  assert.equal((await entryOf(student)).is_outdated, undefined)
  assert.equal(await run(teacher, 'cat /groups/physics/answer'), 'answer')
})

test('another name keeps what is in it', async () => {
  assertOk(await setFolder(boss, physics, 'physics-7b', 'read'))
  assert.equal((await entryOf(student)).is_outdated, true)
  await stop(student)
  assert.equal(await run(student, 'cat /groups/physics-7b/task; ls /groups'), 'task\nphysics-7b')
})

test('who has left sees nothing after the next start', async () => {
  assertOk(await teacher.call('DELETE', `/api/groups/${physics}/members/${student.id}`))
  assert.equal((await entryOf(student)).is_outdated, true)
  await stop(student)
  assert.equal(await run(student, 'ls /groups 2>/dev/null || echo none'), 'none')
})

test('the folder of a group that has ended is not mounted, and is there again when the group goes on', async () => {
  await stop(teacher)
  const end = (at: string | null) => boss.call('PATCH', `/api/admin/groups/${physics}`, { body: { expires_at: at } })
  assertOk(await boss.call('PATCH', `/api/admin/groups/${physics}`, { body: { types: ['prod'] } }))
  assertOk(await end(new Date(Date.now() - 1000).toISOString()))
  assert.equal(await run(teacher, 'ls /groups 2>/dev/null || echo none'), 'none')
  assertOk(await end(null))
  await stop(teacher)
  assert.equal(await run(teacher, 'cat /groups/physics-7b/task'), 'task')
})

test('a folder that is taken away comes back with what was in it, until an administrator purges it', async () => {
  const path = `/api/groups/${physics}/folder`
  assertRefused(await stranger.call('DELETE', path), 403)
  assertOk(await teacher.call('DELETE', path))
  assertRefused(await teacher.call('DELETE', path), 404)
  assert.equal((await boss.call('GET', `/api/admin/groups/${physics}`)).body.group.folder, null)
  assertOk(await setFolder(teacher, physics, 'again', 'read'))
  await stop(teacher)
  assert.equal(await run(teacher, 'cat /groups/again/task'), 'task')
  assertRefused(await teacher.call('DELETE', `${path}?purge=true`), 403)
  assertOk(await boss.call('DELETE', `${path}?purge=true`))
  assert.equal(await foldersInEngine(), 1, 'a container runs with it')
  await stop(teacher)
  await waitFor('the removal of the folder', async () => (await foldersInEngine()) === 0)
  assertOk(await setFolder(teacher, physics, 'again', 'read'))
  assert.equal(await run(teacher, 'ls /groups/again | grep -c task || true'), '0')
})

// An administrator who had to erase what a taken folder held was told that the group has none, and it stayed with the group.
test('a folder that was taken away is purged as well, once', async () => {
  const path = `/api/groups/${physics}/folder`
  await stop(teacher)
  assertOk(await teacher.call('DELETE', path))
  assertRefused(await teacher.call('DELETE', `${path}?purge=true`), 403)
  assert.equal(await foldersInEngine(), 1)
  assertOk(await boss.call('DELETE', `${path}?purge=true`))
  await waitFor('the removal of the folder', async () => (await foldersInEngine()) === 0)
  assertRefused(await boss.call('DELETE', `${path}?purge=true`), 404)
})

// Berth was killed between the creation of a folder and its opening, and programs that are not root could never write there.
test('a folder that a process which died has made, and not opened, is opened by the next launch', async () => {
  assertOk(await setFolder(teacher, physics, 'physics', 'read'))
  const { volume } = await berth.database.db
    .selectFrom('group_folders')
    .select('volume')
    .where('group_id', '=', physics)
    .executeTakeFirstOrThrow()
  const Labels = { 'berth.instance': berth.installation, 'berth.folder': 'group' }
  await askEngine('POST', '/volumes/create', { body: { Name: volume, Labels } })
  const script = 'stat -c "%a %u" /groups/physics; id -u; echo task > /groups/physics/task; cat /groups/physics/task'
  assert.equal(await run(teacher, script), '777 0\n1000\ntask')
})

test('each change is in the audit log', async () => {
  const { body } = await boss.call('GET', '/api/admin/audit?limit=200')
  const entries = (body.entries as { action: string; target: string; detail: { purge?: boolean } }[]).filter(
    ({ target, action }) => target === `group:${physics}` && action.endsWith('-folder'),
  )
  assert.ok(entries.filter(({ action }) => action === 'group.set-folder').length >= 4)
  const removals = entries.filter(({ action }) => action === 'group.remove-folder')
  assert.deepEqual(removals.map(({ detail }) => detail.purge).toSorted(), [false, false, true, true])
})

test('in a home, the place of a folder cannot be deleted: nothing could be mounted there again', async () => {
  assertOk(await setFolder(teacher, physics, 'physics', 'read'))
  const launch = () => teacher.call('POST', '/api/container/launch/inside')
  assertOk(await launch())
  assertOk(await teacher.call('POST', '/api/container/stop/inside'))
  const remove = (path: string) =>
    teacher.call('DELETE', `/api/container/files/inside?${new URLSearchParams({ path })}`)
  for (const path of ['groups', 'groups/physics', './groups//physics']) assertRefused(await remove(path), 409)
  assertOk(await launch())
})

// The engine mounts no folder at a file, and its owner had no way to what lay there but an administrator.
test('what lies where a folder is to be mounted is named on the card, and its owner gets it out and starts again', async () => {
  const owner = await berth.signUpWithoutContainer('owner@x.org')
  const launch = () => owner.call('POST', '/api/container/launch/inside')
  const inHome = async (script: string) => {
    const launched = await launch()
    assertOk(launched)
    const output = await execInContainer(launched.body.container_id, script)
    assertOk(await owner.call('POST', '/api/container/stop/inside'))
    return output.trim()
  }
  const file = (method: string, path: string) =>
    owner.call(method, `/api/container/files/inside?${new URLSearchParams({ path })}`)
  await inHome('mkdir groups && echo mine > groups/physics')
  await boss.call('POST', `/api/groups/${physics}/members`, { body: { emails: ['owner@x.org'] } })
  const lain = [
    ['', 'groups/physics'],
    ['rmdir groups/physics; ln -s physics groups/physics', 'groups/physics'],
    ['rmdir groups/physics; ln -s /etc/hostname groups/physics', 'groups/physics'],
    ['rm -rf groups; echo mine > groups', 'groups'],
  ] as const
  for (const [script, path] of lain) {
    if (script !== '') {
      assertOk(await boss.call('DELETE', `/api/groups/${physics}/members/${owner.id}`))
      await inHome(script)
      await boss.call('POST', `/api/groups/${physics}/members`, { body: { emails: ['owner@x.org'] } })
    }
    const refused = await launch()
    assert.deepEqual([refused.status, refused.body.reason], [500, 'failed'])
    assert.match(refused.body.error, /^A folder is shown at \/home\/berth\/groups\/physics in this container/)
    const offered = await owner.call('POST', '/api/container/files/inside/download', { body: { path } })
    assertOk(offered)
    assertOk(await file('DELETE', path))
    assert.equal(await inHome('grep -c " /home/berth/groups/physics " /proc/mounts'), '1', script)
  }
  assertRefused(await file('DELETE', 'groups/physics'), 409)
})
