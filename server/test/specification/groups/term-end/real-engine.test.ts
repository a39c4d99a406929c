import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { homesOf } from '#test/support/engine/homes.ts'
import { archiveTokenIn, inDays } from '#test/support/term-end-berth.ts'

/** The end of a term on a real engine. */
const berth = await startBerth({ after }, { pace: { every: 200 }, env: { CONTAINER_TEMPLATES: await testTemplates() } })
const boss = await berth.administrator()

/** Each entry below a folder: kind, mode, size or target, and the hash of files. */
const listing = `find . -mindepth 1 | sort | while read f; do
  if [ -L "$f" ]; then echo "link $f $(readlink "$f")"
  elif [ -d "$f" ]; then echo "folder $f $(stat -c %a "$f")"
  else echo "file $f $(stat -c '%a %s' "$f") $(sha256sum < "$f" | cut -c1-64)"; fi; done`

test('a member downloads exactly the home that was removed, with modes and links, after their account is gone', async (t) => {
  const ann = await berth.signUp('ann@x.org')
  const launched = await ann.call('POST', '/api/container/launch/dev')
  assertOk(launched)
  const id = launched.body.container_id as string
  await execInContainer(
    id,
    'mkdir -p "a b/c" && head -c 3000000 /dev/urandom > "a b/c/data" && echo ü > ünïcode && ln -s ../ünïcode "a b/link" && chmod 700 "a b" && : > empty && chmod 640 empty',
  )
  const before = await execInContainer(id, listing)
  const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics 7b' } })
  assertOk(made)
  const groupId = made.body.group.id as number
  assertOk(await boss.call('POST', `/api/groups/${groupId}/members`, { body: { emails: ['ann@x.org'] } }))

  const target = `/api/admin/groups/${groupId}/term-end`
  assertOk(await boss.call('POST', target, { body: { keep_until: inDays(30) } }))
  const progress = async () => (await boss.call('GET', target)).body.term_end
  await pollUntil(
    async () => (await progress()).phase === 'done',
    () => berth.logs.slice(-8).join(''),
  )
  assert.deepEqual((await progress()).counts, { waiting: 0, archived: 0, mailed: 0, done: 1, kept: 0, failed: 0 })
  await pollUntil(
    async () => (await homesOf(berth, ann.id)).length === 0,
    () => 'the home is still there',
  )
  const filters = JSON.stringify({ label: [`berth.instance=${berth.installation}`, `berth.user_id=${ann.id}`] })
  assert.deepEqual(await askEngine<unknown[]>('GET', '/containers/json', { query: { all: '1', filters } }), [])

  const { text = '' } = berth.mail.newestTo('ann@x.org')
  const token = archiveTokenIn({ text })
  const begun = await berth.call('POST', '/api/archives/download', { body: { token, type: 'dev' } })
  assertOk(begun)
  const response = await fetch(berth.url + begun.body.path)
  assert.equal(response.status, 200)
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-archive-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'home.tar.gz')
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(bytes.length, Number(response.headers.get('content-length')))
  await writeFile(file, bytes)
  const home = path.join(folder, 'home')
  execFileSync('mkdir', [home])
  execFileSync('tar', ['-xzpf', file, '-C', home, '--strip-components=0'])
  const unpacked = execFileSync('sh', ['-c', listing], { cwd: home, encoding: 'utf8' })
  assert.equal(unpacked, before)
})
