import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { insertUser } from '#/store/users.ts'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The program `berth` while no service runs, and no engine answers. */

const folder = mkdtempSync(path.join(tmpdir(), 'berth-cli-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const makeData = (name: string) => makeStore(path.join(folder, name))

test('nothing is deleted without a terminal to confirm at, and each refusal is reported while the others are done', async () => {
  const settings = { ...noEngine, DATA_DIR: await makeData('delete') }
  const asked = await runCommand(settings, 'users', 'delete', 'ann@x.org')
  assert.equal(asked.code, 1)
  assert.match(asked.stderr, /ann@x\.org \(id 2\).*\n.*add --yes/)
  const deleted = await runCommand(
    settings,
    'users',
    'delete',
    'nobody@x.org',
    'ann@x.org',
    'boss@x.org',
    '--yes',
    '--json',
  )
  assert.equal(deleted.code, 1)
  const { done, failed } = JSON.parse(deleted.stdout) as { done: { id: number }[]; failed: { target: string }[] }
  assert.deepEqual(
    done.map(({ id }) => id),
    [2],
  )
  assert.deepEqual(
    failed.map(({ target }) => target),
    ['nobody@x.org', 'boss@x.org'],
  )
  assert.match(deleted.stderr, /last administrator/)
  assert.match(deleted.stderr, /Berth does the rest when it starts/)
})

test(
  'without a service keys are rotated all the same: the new one signs, the old one is accepted still',
  onlyLong,
  async () => {
    const settings = { ...noEngine, DATA_DIR: await makeData('keys') }
    const list = async () => {
      const { stdout } = await runCommand(settings, 'keys', 'list', '--json')
      const keys = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, string>)
      assert.ok(keys.every((key) => key.d === undefined))
      return keys.map(({ kid }) => kid)
    }
    const [first, next] = await list()
    const rotated = await runCommand(settings, 'keys', 'rotate', '--json')
    const { kid, retired } = JSON.parse(rotated.stdout) as { kid: string; retired: { kid: string }[] }
    assert.equal(kid, next, 'it was announced before')
    assert.equal(retired[0]?.kid, first)
    const [signs, , accepted] = await list()
    assert.deepEqual([signs, accepted], [kid, first])
  },
)

/** A store in which Ann was blocked, then made an administrator. @returns runs `berth audit` on it */
async function makeAudit(name: string) {
  const settings = { ...noEngine, DATA_DIR: await makeData(name) }
  await runCommand(settings, 'users', 'block', 'ann@x.org')
  await runCommand(settings, 'users', 'promote', 'ann@x.org')
  return (...args: string[]) => runCommand(settings, 'audit', ...args)
}

test('the audit log is exported whole into a file that is never written over', onlyLong, async () => {
  const run = await makeAudit('export')
  const out = path.join(folder, 'audit.csv')
  const exported = await run('export', '--format', 'csv', '--out', out)
  assert.deepEqual([exported.code, exported.stdout], [0, ''], exported.stderr)
  const lines = (await readFile(out, 'utf8')).trimEnd().split('\r\n')
  assert.match(lines[0] ?? '', /^id,at,/)
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',')[4]),
    ['user.promote', 'user.block'],
  )
  const again = await run('export', '--out', out)
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, /is there already/)
})

test('the audit log is listed by action and day', onlyLong, async () => {
  const run = await makeAudit('list')
  const listed = await run('list', '--action', 'user.', '--limit', '1', '--json')
  assert.equal((JSON.parse(listed.stdout) as { action: string }).action, 'user.promote')
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  assert.deepEqual(await run('list', '--since', tomorrow), { code: 0, stdout: '', stderr: 'Nothing.\n' })
  assert.equal((await run('list', '--until', tomorrow, '--json')).stdout.trimEnd().split('\n').length, 2)
  assert.deepEqual(await run('list', '--until', '2026-01-01'), { code: 0, stdout: '', stderr: 'Nothing.\n' })
})

test('a list of any length comes page by page, whole and in order', onlyLong, async () => {
  const dataDir = await makeData('many')
  const { transaction, close } = await openDatabase(null, dataDir)
  await transaction(async (tx) => {
    for (let n = 0; n < 1_100; n++)
      await insertUser(tx, { email: `p${n}@x.org`, slug: `p${n}`, isAdmin: false, now: new Date() })
  })
  await close()
  const { code, stdout } = await runCommand({ ...noEngine, DATA_DIR: dataDir }, 'users', 'list', '--json')
  assert.equal(code, 0)
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id)
  assert.deepEqual(
    ids,
    Array.from({ length: 1_102 }, (_, n) => n + 1),
  )
})

test('a class is invited from a file, in parts, with a line for each', onlyLong, async () => {
  const settings = { ...noEngine, DATA_DIR: await makeData('invite') }
  const people = Array.from({ length: 60 }, (_, n) => `Student ${n},s${n}@school.org`)
  const file = path.join(folder, 'class.csv')
  writeFileSync(file, `Name,Email\n${people.join('\n')}\nNobody,no address\n`)
  const args = ['users', 'invite', 'boss@x.org', '--csv', file, '--no-mail', '--json']
  const first = await runCommand(settings, ...args)
  assert.equal(first.code, 1)
  assert.match(first.stderr, /1 of 62 could not be invited/)
  const invitations = first.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  const count = (status: string) => invitations.filter((each) => each.status === status).length
  assert.deepEqual([count('invited'), count('already-registered'), count('invalid')], [60, 1, 1])
  const links = invitations.flatMap(({ link }) => link ?? [])
  assert.equal(new Set(links).size, 60)
  assert.ok(links.every((link) => link.includes('/verify-signup?token=')))
  const listed = await runCommand(settings, 'users', 'list', '--search', '@school.org', '--json')
  assert.equal(listed.stdout.trimEnd().split('\n').length, 60)
  const none = await runCommand(settings, 'users', 'invite')
  assert.deepEqual([none.code, none.stdout], [2, ''])
})
