import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { unpackTar } from 'modern-tar'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import type { Person } from '#test/support/berth.ts'
import { extent } from '#test/support/extent.ts'
import { transferBerth } from '#test/support/homes/transfer-berth.ts'

/** Files of a home whose container does not run, with a real engine and without snapshots. */
const ends: (() => Promise<void>)[] = []
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const { berth, ann, stop, launch, inHome } = await transferBerth(
  { after: (end) => void ends.push(end) },
  { SNAPSHOTS: 'off' },
)
const bob = await berth.signUp('bob@x.org')

const list = async (query: Record<string, string> = {}) => {
  const found = await ann.call('GET', `/api/container/folders/dev?${new URLSearchParams(query)}`)
  assertOk(found)
  return found.body as { files: number; has_more: boolean; entries: { name: string; kind: string; bytes: number }[] }
}
const remove = (path: string, who: Person = ann) =>
  who.call('DELETE', `/api/container/files/dev?${new URLSearchParams({ path })}`)
const offer = (path: string, who: Person = ann) =>
  who.call('POST', '/api/container/files/dev/download', { body: { path } })
async function download(path: string, who: Person = ann) {
  const offered = await offer(path, who)
  if (offered.status !== 200) return { status: offered.status, bytes: Buffer.alloc(0), headers: new Headers() }
  const reply = await fetch(berth.url + offered.body.path, { headers: { authorization: `Bearer ${who.token}` } })
  return { status: reply.status, bytes: Buffer.from(await reply.arrayBuffer()), headers: reply.headers }
}

test('a file of a stopped home is downloaded as it is, and a folder as a tar archive', async () => {
  await inHome('mkdir -p notes/deep && echo hello > notes/deep/a.txt && head -c 300000 /dev/zero > notes/zeros')
  const file = await download('notes/deep/a.txt')
  assert.deepEqual([file.status, file.bytes.toString(), file.headers.get('content-length')], [200, 'hello\n', '6'])
  assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="a\.txt"/)
  // What a user wrote is no page of this origin.
  assert.equal(file.headers.get('content-type'), 'application/octet-stream')
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
  const folder = await download('notes')
  const names = (await unpackTar(folder.bytes)).map(({ header }) => header.name.replace(/^\.\//, ''))
  assert.deepEqual(names.toSorted(), ['notes/', 'notes/deep/', 'notes/deep/a.txt', 'notes/zeros'])
  assert.match(folder.headers.get('content-disposition') ?? '', /filename="notes\.tar"/)
})

test('what is deleted is gone from the list, takes no room, and its name is free in the container', async () => {
  await inHome('mkdir -p big/inner && head -c 2000000 /dev/zero > big/inner/data && echo kept > kept && echo x > one')
  assertOk(await remove('big'))
  assertOk(await remove('one'))
  const names = (await list()).entries.map(({ name }) => name)
  assert.deepEqual(
    ['big', 'one', 'kept'].map((name) => names.includes(name)),
    [false, false, true],
  )
  assert.equal(
    await inHome('du -sk . | cut -f1 | (read k; [ $k -lt 1500 ] && echo small); rm -f big one; mkdir big && echo made'),
    'small\nmade',
  )
})

test('names of any kind are listed, downloaded and deleted', async () => {
  const names = ['-rf', ' lead and trail ', 'a"b\'c', 'zwei\nZeilen', 'ünï😀', '*', '%2e%2e', 'x'.repeat(250)]
  const quoted = names.map((name) => `'${name.replaceAll("'", `'\\''`)}'`).join(' ')
  await inHome(`mkdir names && cd names && for n in ${quoted}; do printf %s "$n" > "./$n"; done`)
  const seen = (await list({ path: 'names' })).entries.map(({ name }) => name)
  assert.deepEqual(seen.toSorted(), names.toSorted())
  for (const name of names) {
    assert.equal((await download(`names/${name}`)).bytes.toString(), name, name)
    assertOk(await remove(`names/${name}`))
  }
  assert.deepEqual((await list({ path: 'names' })).entries, [])
})

test('no link leads out of its folder: what is behind it is neither read nor deleted, and a deleted link is only itself', async () => {
  await inHome('mkdir target && echo secret > target/file && ln -s target inside && ln -s /etc outside && ln -s .. up')
  for (const path of ['inside/file', 'outside/passwd', 'outside/hostname', 'up/home', '../etc/passwd', '/../x', ''])
    assert.ok([400, 404].includes((await download(path)).status), path)
  for (const path of ['inside/file', 'outside/passwd', '../etc', 'no-such', 'target/no/such'])
    assertRefused(await remove(path), 404)
  assert.equal((await download('outside')).status, 409)
  assert.equal((await list()).entries.find(({ name }) => name === 'outside')?.kind, 'link')
  assertOk(await remove('inside'))
  assert.equal(await inHome('cat target/file'), 'secret')
})

test('while the container runs nothing is downloaded or deleted', async () => {
  await launch()
  assertRefused(await remove('kept'), 409)
  assert.equal((await download('kept')).status, 409)
  await stop()
  assert.equal((await download('kept')).status, 200)
})

test('a launch does not wait for a download that is not read: it ends it', async () => {
  await inHome('head -c 40000000 /dev/zero > large')
  const offered = await offer('large')
  assertOk(offered)
  const reply = await fetch(berth.url + offered.body.path, { headers: { authorization: `Bearer ${ann.token}` } })
  assert.deepEqual([reply.status, reply.headers.get('content-length')], [200, '40000000'])
  await launch()
  await assert.rejects(reply.arrayBuffer())
  await stop()
  assertOk(await remove('large'))
})

test('files are for their owner alone, and a download is for who asked and once', async () => {
  const offered = await offer('kept')
  assertOk(offered)
  assertRefused(await bob.call('GET', offered.body.path), 404)
  assertRefused(await berth.call('GET', offered.body.path), 401)
  const headers = { authorization: `Bearer ${ann.token}` }
  assert.equal((await fetch(berth.url + offered.body.path, { headers })).status, 200)
  assert.equal((await fetch(berth.url + offered.body.path, { headers })).status, 404)
  assertRefused(await remove('kept', bob), 409)
})

test('a folder with very many entries is told page by page, the largest first', async () => {
  const count = extent(3_000, 100_000)
  await inHome(`mkdir many && cd many && seq ${count} | xargs touch && echo 123 > largest && echo 12 > second`)
  const first = await list({ path: 'many' })
  assert.deepEqual([first.files, first.has_more, first.entries.length], [count + 2, true, 50])
  assert.deepEqual(
    first.entries.slice(0, 2).map(({ name }) => name),
    ['largest', 'second'],
  )
  const next = await list({ path: 'many', offset: '50' })
  assert.equal(next.entries.filter(({ name }) => first.entries.some((each) => each.name === name)).length, 0)
  assert.equal((await list({ path: 'many', offset: '99999' })).has_more, false)
  assertOk(await remove('many'))
  assert.equal(
    (await list()).entries.some(({ name }) => name === 'many'),
    false,
  )
})
