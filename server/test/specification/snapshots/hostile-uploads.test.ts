// Part of npm run test:more: `checked-archive.test.ts` has the rules; this tries them on an engine.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'
import { assertOk } from '#test/support/api-calls.ts'
import { rawEntry, tarEnd } from '#test/support/homes/raw-tar.ts'
import { archiveInParts, transferBerth } from '#test/support/homes/transfer-berth.ts'
import { waitFor } from '#test/support/program.ts'

/** Archives of someone who attacks, sent to a real engine: nothing outside of the new folder is as it was not before. */
const ends: (() => Promise<void>)[] = []
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const { berth, ann, inHome, upload, received } = await transferBerth({ after: (end) => void ends.push(end) })

const link = (name: string, type: 'link' | 'symlink', linkname: string, mode = 0o777): TarEntry => ({
  header: { name, size: 0, type, linkname, mode },
})

test('hard links reach no file of the home that was there before, by way of another name of a symbolic link', async () => {
  // "around" is a symbolic link, too, and was not taken for one: the engine made "got" a second name of the file in the home.
  await inHome('echo secret > secret && chmod 600 secret')
  const before = await inHome('stat -c "%a %u %h" secret')
  for (const top of ['/home', '/home/berth', '/proc/self/cwd/home']) {
    const tar = await packTar([
      link('way', 'symlink', top),
      link('around', 'link', 'way'),
      link('got', 'link', 'around/secret'),
    ])
    const sent = await upload([tar])
    assert.equal(await inHome('stat -c "%a %u %h" secret'), before, `${top}: ${JSON.stringify(sent.body)}`)
    assert.equal(sent.status, 400, JSON.stringify(sent.body))
    assert.match(sent.body.error, /got|around/)
  }
  assert.deepEqual(received(), [])
})

test('who may not use a home puts nothing into one: clients without an account, blocked users, and others than its owner', async () => {
  const tar = await packTar([{ header: { name: 'mark', size: 1, type: 'file' }, body: 'x' }])
  const bob = await berth.signUp('bob@x.org')
  const stranger = { ...bob, token: 'x.y.z' }
  assert.equal((await upload([tar], { who: stranger })).status, 401)
  // The address of a home has no owner in it: what Bob sends is in his own home.
  assertOk(await bob.call('POST', '/api/container/stop/dev'))
  assert.equal((await upload([tar], { who: bob })).status, 200)
  assert.equal(await inHome('find . -name mark | wc -l'), '0')
  for (const type of ['nonsense', '..%2fdev', `dev%2f..%2f..`, 'prod%00'])
    assert.ok((await upload([tar], { type })).status >= 400, type)
  const boss = await berth.administrator()
  assertOk(await boss.call('POST', `/api/admin/users/${bob.id}/block`))
  assert.equal((await upload([tar], { who: bob })).status, 403)
  assert.deepEqual(received(), [])
})

test('a user who is blocked while an archive comes gets nothing into the home', async () => {
  // Whether the user is blocked was asked before the archive came, which may take two hours.
  const cat = await berth.signUp('cat@x.org')
  assertOk(await cat.call('POST', '/api/container/stop/dev'))
  const boss = await berth.administrator()
  const { parts, length } = await archiveInParts('mark')
  const slow = async function* () {
    yield parts[0]
    await waitFor('a part of the archive', () => received().length === 1, 20_000)
    assertOk(await boss.call('POST', `/api/admin/users/${cat.id}/block`))
    yield parts[1]
  }
  const sent = await upload(slow(), { length, who: cat })
  assert.equal(sent.status, 403, JSON.stringify(sent.body))
  assert.deepEqual(received(), [])
})

test('an administrator who acts for a user is named with what is put into the home', async () => {
  const boss = await berth.administrator()
  const reply = await boss.call('POST', `/api/admin/users/${ann.id}/takeover`, { body: { reason: 'to help' } })
  assertOk(reply)
  const tar = await packTar([{ header: { name: 'help', size: 1, type: 'file' }, body: 'x' }])
  const sent = await upload([tar], { who: { ...ann, token: reply.body.access_token } })
  assert.equal(sent.status, 200, JSON.stringify(sent.body))
  const { entries } = (await berth.operate('GET', '/api/admin/audit?limit=20')).body
  const found = (entries as { action: string; detail: { acting?: string } }[]).find(
    ({ action }) => action === 'home.upload',
  )
  assert.equal(found?.detail.acting, String(boss.id))
})

test('what is no archive, or none in whole, leaves the home as it was and no error in the log', async () => {
  const before = await inHome('find . | sort | sha256sum')
  const lines = berth.logs.length
  const whole = Buffer.from(
    await packTar([{ header: { name: 'x', size: 5_000, type: 'file' }, body: Buffer.alloc(5_000) }]),
  )
  const zeros = gzipSync(Buffer.alloc(100 * 1024 ** 2))
  for (const [name, bytes] of Object.entries({
    'cut in a file': whole.subarray(0, 2_000),
    'cut in gzip': gzipSync(whole).subarray(0, 60),
    'without its end': whole.subarray(0, 512),
    'zeros that are 100 MB when unpacked': zeros,
    'a header of megabytes': rawEntry({ type: 'x', body: 'x'.repeat(3_000_000) }),
    'a name of GNU tar that leads elsewhere': Buffer.concat([rawEntry({ type: 'L', body: '../../x\0' }), whole]),
    'a sparse file': Buffer.concat([rawEntry({ type: 'S' }), whole]),
    'a device in the place of a folder': Buffer.concat([
      rawEntry({ type: '3', name: 'd' }),
      rawEntry({ name: '../d/x' }),
      tarEnd,
    ]),
  })) {
    const sent = await upload([bytes])
    assert.ok(sent.status === 400 || sent.status === 409, `${name}: ${sent.status}`)
  }
  assert.deepEqual(received(), [])
  assert.equal(await inHome('find . | sort | sha256sum'), before)
  assert.deepEqual(
    berth.logs.slice(lines).filter((line) => (JSON.parse(line) as { level: number }).level >= 50),
    [],
  )
})
