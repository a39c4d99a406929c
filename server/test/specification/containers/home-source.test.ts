import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { homesOf } from '#test/support/engine/homes.ts'
import { readConfig } from '#/config/config.ts'

/** Homes on a file server, mounts of one person, and the account of a container (contract, section 15). */
const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-home-source-')))
for (const each of ['homes', 'there', 'own', 'sealed']) mkdirSync(path.join(root, each))
const ends: (() => Promise<void>)[] = [async () => rmSync(root, { recursive: true, force: true })]
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})

const base = { image: await testImage(), port: 8080, memory: '64m' }
const shared = {
  ...base,
  home_of: 'user',
  home_source: { path: `${root}/homes/{slug}`, create: '4321:1234' },
  user: '4321:1234',
}
const templates = {
  notebook: { ...shared, home: '/home/berth' },
  editor: { ...shared, home: '/workspace' },
  there: { ...base, home_source: { path: `${root}/there/{user_id}` } },
  sealed: { ...base, home_source: { path: `${root}/sealed/{slug}`, create: '4321:1234' } },
  own: {
    ...base,
    home: null,
    mounts: [{ source: { path: `${root}/own/{slug}` }, target: '/own', read_only: false }],
  },
  volume: { ...base, home: '/nowhere/deep', user: '4321:1234' },
}
const settings = (all: Record<string, unknown>) => ({
  ALLOWED_MOUNT_ROOTS: root,
  CONTAINER_TEMPLATES: JSON.stringify(all),
})
const berth = await startBerth(lifetime, { env: { SNAPSHOTS: 'on', ...settings(templates) } })
await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')

const launch = (person: Person, type: string) => person.call('POST', `/api/container/launch/${type}`)
const run = async (person: Person, type: string, script: string) => {
  const launched = await launch(person, type)
  assertOk(launched)
  return (await execInContainer(launched.body.container_id, script)).trim()
}
const problemsOf = (all: Record<string, unknown>) => readConfig(settings(all), () => '').problems.join('\n')

test('a home is a folder of the file server, made for the account of the container, and shared by types', async () => {
  await run(ann, 'notebook', 'id -u > /home/berth/file && id -g >> /home/berth/file')
  const { uid, gid, mode } = statSync(path.join(root, 'homes', ann.slug))
  assert.deepEqual([uid, gid, mode & 0o777], [4321, 1234, 0o700])
  assert.equal(await run(ann, 'editor', 'cat /workspace/file'), '4321\n1234')
  assert.deepEqual(await homesOf(berth, ann.id), [], 'the engine has no volume for it')
})

test('a missing folder that is not to be made is refused, also one that leads out of the roots', async () => {
  const missing = await launch(ann, 'there')
  assert.equal(missing.status, 500)
  assert.match(missing.body.error, /home on a file server, is missing or cannot be used/)
  const folder = path.join(root, 'there', String(ann.id))
  symlinkSync('/etc', folder)
  assert.equal((await launch(ann, 'there')).status, 500)
  rmSync(folder)
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'file'), 'kept')
  assert.equal(await run(ann, 'there', 'cat /home/berth/file'), 'kept')
})

test('where Berth may not make the folder, as in the service of the Debian package, its log says what to do instead', async () => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', path.join(root, 'sealed')])
  try {
    assert.equal((await launch(ann, 'sealed')).status, 500)
  } finally {
    execFileSync('umount', [path.join(root, 'sealed')])
  }
  assert.match(berth.logs.join(''), /may not write to [^ ]+sealed: leave create out and let the file server make homes/)
})

test('a mount is of one person where its path says so', async () => {
  const ben = await berth.signUpWithoutContainer('ben@x.org')
  for (const { slug } of [ann, ben]) mkdirSync(path.join(root, 'own', slug), { mode: 0o777 })
  for (const person of [ann, ben]) writeFileSync(path.join(root, 'own', person.slug, 'whose'), person.slug)
  for (const person of [ann, ben]) assert.equal(await run(person, 'own', 'cat /own/whose'), person.slug)
  const { body } = await ann.call('GET', '/api/user/containers')
  const homes = Object.fromEntries(
    body.containers.map(({ type, home }: { type: string; home: unknown }) => [type, home]),
  )
  assert.deepEqual([homes.own, homes.there, homes.notebook], [null, 'type', 'user'])
})

test('a new home of the engine belongs to the account of the container', async () => {
  assert.equal(await run(ann, 'volume', 'touch /nowhere/deep/file && stat -c %u:%g /nowhere/deep'), '4321:1234')
})

test('what the paths and accounts of templates may not be is told at the start', () => {
  const home = (source: object) => ({ a: { ...base, home_source: source } })
  assert.match(problemsOf(home({ path: `${root}/homes/{name}` })), /a: home_source path .*\{slug\}/)
  assert.match(problemsOf(home({ path: `${root}/homes/{slug}}` })), /brace/)
  assert.match(problemsOf(home({ path: `${root}/homes` })), /needs \{slug\} or \{user_id\}/)
  assert.match(problemsOf(home({ path: '/etc/{slug}' })), /not below ALLOWED_MOUNT_ROOTS/)
  assert.match(problemsOf(home({ path: `${root}/homes/{slug}`, create: 'ann' })), /create must be a uid/)
  assert.match(problemsOf({ a: { ...base, user: 'root' } }), /a: user must be a uid/)
  const own = (source: string) => [{ source: { path: source }, target: '/m' }]
  assert.match(problemsOf({ a: { ...base, mounts: own(`${root}/own/{type}`) } }), /brace/)
  const apart = { ...shared, home_source: { path: `${root}/own/{slug}` } }
  assert.match(problemsOf({ a: shared, b: apart }), /b: home_source is another than that of a/)
})

test('a folder that a person writes to has no other mount below it, nor one that their name could lead to', () => {
  const writable = { ...base, home_source: { path: `${root}/homes/{slug}` } }
  const reader = (source: string) => ({ ...base, mounts: [{ source: { path: source }, target: '/m' }] })
  mkdirSync(path.join(root, 'homes', 'course', 'data'), { recursive: true })
  for (const source of ['homes/{slug}/data', 'homes/course/data', 'homes/course'])
    assert.match(problemsOf({ a: writable, b: reader(`${root}/${source}`) }), /which is below/, source)
  assert.equal(problemsOf({ a: writable, b: reader(`${root}/own`) }), '')
})

test('a home that the program cannot write to is told with the launch, which succeeds, until it can', async () => {
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  const folder = path.join(root, 'there', String(eve.id))
  mkdirSync(folder, { mode: 0o755 })
  const problem = async () =>
    (await eve.call('GET', '/api/user/containers')).body.containers.find(
      ({ type }: { type: string }) => type === 'there',
    ).home_problem
  assertOk(await launch(eve, 'there'))
  assert.match(
    await problem(),
    /You cannot save files in your home: .* account \d+, and the home belongs to account 0\./,
  )
  chownSync(folder, 4321, 4321)
  assertOk(await eve.call('POST', '/api/container/restart/there'))
  assert.match(await problem(), /the home belongs to account 4321\./)
  chmodSync(folder, 0o777)
  assertOk(await eve.call('POST', '/api/container/restart/there'))
  assert.equal(await problem(), undefined)
  assertOk(await launch(ann, 'notebook'))
  const own = (await ann.call('GET', '/api/user/containers')).body.containers[0]
  assert.deepEqual([own.type, own.home, own.home_problem], ['notebook', 'user', undefined])
})
