import assert from 'node:assert/strict'
import {
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'

/** A home whose template moved to another account is given to it by the operator (contract, section 15). */
const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-home-owner-')))
for (const each of ['homes', 'outside']) mkdirSync(path.join(root, each))
const ends: (() => Promise<void>)[] = [async () => rmSync(root, { recursive: true, force: true })]
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** @param uid of programs */
async function settings(uid: number): Promise<Record<string, string>> {
  const base = { image: await testImage(), port: 8080, memory: '64m', user: `${uid}:${uid}` }
  const templates = {
    notebook: { ...base, home: '/nowhere/deep', home_of: 'user' },
    editor: { ...base, home: '/workspace', home_of: 'user' },
    // Its program ends when it cannot enter its home.
    strict: base,
    // The program of the test image needs its home to begin.
    served: { ...base, command: ['sleep', '3600'], home_source: { path: `${root}/homes/{slug}`, create: '4001:4001' } },
  }
  return { ALLOWED_MOUNT_ROOTS: root, CONTAINER_TEMPLATES: JSON.stringify(templates) }
}

let berth = await startBerth(lifetime, { env: await settings(4001) })
const boss = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')

const idOf = async (type: string): Promise<number> => {
  const { body } = await berth.call('GET', '/api/admin/users?q=ann', { token: boss.token })
  return body.users[0].containers.find((each: { container_type: string }) => each.container_type === type).id
}
const call = (person: Person, method: string, target: string) => berth.call(method, target, { token: person.token })
const launch = async (type: string): Promise<string> => {
  const launched = await call(ann, 'POST', `/api/container/launch/${type}`)
  assertOk(launched)
  return launched.body.container_id
}
const run = async (type: string, script: string) => (await execInContainer(await launch(type), script)).trim()
const stop = async (type: string) => assertOk(await call(ann, 'POST', `/api/container/stop/${type}`))
const problem = async (type: string): Promise<string | undefined> => {
  const { body } = await call(ann, 'GET', '/api/user/containers')
  return body.containers.find((each: { type: string }) => each.type === type).home_problem
}
const change = async (type: string, body: object = {}) =>
  berth.operate('POST', `/api/operator/containers/${await idOf(type)}/home-owner`, { body })

test('the message of a home that cannot be written to names the command, which gives all of it to the program', async () => {
  const script =
    'cd /nowhere/deep && mkdir -p a/b && echo kept > a/b/file && ln -s /bin/sh link && chmod 700 a . && id -u'
  assert.equal(await run('notebook', script), '4001')
  await run('served', 'echo kept > /home/berth/file && chmod 600 /home/berth/file')
  for (const type of ['notebook', 'served']) await stop(type)
  await berth.close()
  const { dataDir, installation } = berth
  berth = await startBerth(lifetime, { dataDir, installation, env: await settings(4002) })
  await launch('notebook')
  const told = (await problem('notebook')) ?? ''
  assert.match(told, /runs as account 4002, and the home belongs to account 4001/)
  assert.ok(told.includes(`\`berth homes chown ${await idOf('notebook')}\``), told)
  const listed = (await call(boss, 'GET', '/api/admin/users?q=ann')).body.users[0].containers
  const { home_problem } = listed.find((each: { container_type: string }) => each.container_type === 'notebook')
  assert.deepEqual(home_problem, { program: 4002, owner: 4001 })

  assertRefused(await change('notebook'), 409)
  await stop('notebook')
  const editor = await launch('editor')
  assertRefused(await change('notebook'), 409)
  await execInContainer(editor, 'test ! -w /workspace')
  await stop('editor')

  const done = await change('notebook')
  assertOk(done)
  assert.deepEqual(
    { ...done.body, message: '' },
    { message: '', seen: 5, changed: 5, before: 0, from: '4001:4001', to: '4002' },
  )
  assert.equal(await problem('notebook'), undefined)
  const look = 'cat a/b/file && touch a/b/new && stat -c %u:%g . a a/b/file link && stat -c %a . && stat -L -c %u link'
  const seen = await run('notebook', `cd /nowhere/deep && ${look}`)
  assert.equal(seen, ['kept', '4002:4001', '4002:4001', '4002:4001', '4002:4001', '700', '0'].join('\n'))
  assert.equal(await run('editor', 'cat /workspace/a/b/file'), 'kept')
  for (const type of ['notebook', 'editor']) await stop(type)
  const { body } = await call(boss, 'GET', '/api/admin/audit?action=home.change-owner')
  const [{ actor, detail }] = body.entries
  assert.deepEqual(actor, { id: null, email: 'operator root' })
  assert.deepEqual(
    { ...detail, user: 0 },
    { user: 0, type: 'notebook', from: '4001:4001', to: '4002', changed: 5, address: 'command line' },
  )
})

test('a program that ends because it cannot enter its home is told of with the command, which mends it', async () => {
  await launch('strict')
  const own = (id: string) => change('strict', { to: id })
  await execInContainer(await launch('strict'), 'echo kept > /home/berth/file')
  await stop('strict')
  assertOk(await own('4001:4001'))
  assertOk(await call(ann, 'POST', '/api/container/stop/strict'))
  // On a busy machine the program has not come to its end when the launch has seen it up for long enough.
  await pollUntil(
    async () => (await call(ann, 'POST', '/api/container/launch/strict')).body.reason === 'crashed',
    () => 'its program does not end',
  )
  const told = (await problem('strict')) ?? ''
  assert.match(told, /runs as account 4002, and the home belongs to account 4001/)
  assert.ok(told.includes(`\`berth homes chown ${await idOf('strict')}\``), told)
  assertOk(await change('strict'))
  assert.equal(await run('strict', 'cat /home/berth/file'), 'kept')
  assert.equal(await problem('strict'), undefined)
  await stop('strict')
})

test('what is given away a second time is not, and the way back gives it to whom it belonged', async () => {
  assertOk(await change('notebook', { from: '4001:4001', to: '4002:4002' }))
  const back = await change('notebook', { from: '4002:4002', to: '4003:4003' })
  assert.equal(back.body.changed, 6)
  const again = await change('notebook', { from: '4002:4002', to: '4003:4003' })
  assert.deepEqual([again.body.changed, again.body.before], [0, 6])
  assert.equal((await change('notebook', { from: '4003:4003', to: '4001:4001' })).body.changed, 6)
  assert.match((await problem('notebook')) ?? 'none', /none/)
  assertRefused(await change('notebook'), 409)
  for (const to of ['root', '1:', '-1', '4294967295']) assertRefused(await change('notebook', { to }), 400)
})

test('a folder of a file server is given likewise, what its links lead to is not, and nothing runs with it', async () => {
  const home = path.join(root, 'homes', ann.slug)
  const outside = path.join(root, 'outside', 'file')
  writeFileSync(outside, '')
  lchownSync(outside, 4001, 4001)
  symlinkSync(outside, path.join(home, 'link'))
  lchownSync(path.join(home, 'link'), 4001, 4001)
  symlinkSync('..', path.join(home, 'up'))
  writeFileSync(path.join(home, 'other'), '')
  const owner = (file: string) => lstatSync(file).uid
  assert.deepEqual([owner(home), owner(path.join(home, 'other'))], [4001, 0])

  await launch('served')
  assert.match((await problem('served')) ?? '', /account 4002, and the home belongs to account 4001/)
  assertRefused(await change('served'), 409)
  await stop('served')
  assertOk(await change('served'))
  const owners = [home, ...['file', 'link', 'other'].map((each) => path.join(home, each)), outside].map(owner)
  assert.deepEqual(owners, [4002, 4002, 4002, 0, 4001])
  assert.equal(owner(path.join(root, 'homes')), 0)
  assert.equal(await run('served', 'cat /home/berth/file'), 'kept')
})
