import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { readManifest, verifyParts } from '@berth/cli/backup/backup-format.ts'
import { backupSigner } from '@berth/cli/backup/backup-signature.ts'
import { readLastBackup } from '@berth/cli/backup/create-backup.ts'
import { streamTarget } from '@berth/cli/backup/backup-target.ts'
import { noEngine, runCommand, startCommand } from '#test/support/command-line.ts'
import { fillSmallStore } from '#test/support/store/filled-store.ts'

test('a backup of many homes leaves no listeners at the stream that it goes to', async (t) => {
  // With six files and more Node warned on standard error of a possible leak of memory, every night.
  const spool = mkdtempSync(path.join(tmpdir(), 'berth-spool-'))
  t.after(() => rmSync(spool, { recursive: true }))
  const output = new PassThrough()
  const archive = buffer(output)
  const countListeners = () => output.eventNames().map((name) => [name, output.listenerCount(name)])
  const before = countListeners()
  const target = streamTarget(output, spool, { encrypt: (content) => content, signer: await backupSigner(spool) })
  const { signal } = new AbortController()
  for (let number = 0; number < 12; number++)
    await target.add({ kind: 'home', file: `homes/${number}.tar`, content: Readable.from([Buffer.from('x')]) }, signal)
  assert.deepEqual(countListeners(), before)
  output.end()
  // A header and a block for each.
  assert.equal((await archive).length, 12 * 2 * 512)
})

test('a backup whose reader has ended fails', async (t) => {
  const spool = mkdtempSync(path.join(tmpdir(), 'berth-spool-'))
  t.after(() => rmSync(spool, { recursive: true }))
  const output = new PassThrough().on('error', () => {})
  output.destroy()
  const target = streamTarget(output, spool, { encrypt: (content) => content, signer: await backupSigner(spool) })
  const part = { kind: 'keys', file: 'signing-key.json', content: Readable.from([Buffer.from('x')]) } as const
  await assert.rejects(target.add(part, new AbortController().signal), { code: 'ERR_STREAM_DESTROYED' })
})

test('the size of a backup is said in words, and a check says that homes were left out', async (t) => {
  // The size was "[object Object]" since sizes have a language; the check said "complete", as of one with every home.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-words-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const dataDir = path.join(folder, 'data')
  await fillSmallStore(null, dataDir, 'berth-ghkmn')
  const settings = { ...noEngine, DATA_DIR: dataDir }
  const { code, stdout, stderr } = await runCommand(settings, 'backup', path.join(folder, 'backups'), '--no-homes')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Backup made: \S+, \d+ users?, 0 homes, \d+ MiB, in [\d.]+ s\nSigned by ed25519:\S{43}: /m)
  const [, name = ''] = /^Backup made: (\S+),/.exec(stdout) ?? []
  const check = await runCommand(settings, 'restore', name, '--check')
  assert.match(check.stdout, /is complete: 2 files\.$/m)
  assert.match(check.stderr, /^it was made without the homes of users \(--no-homes\)$/m)
  assert.equal(readLastBackup(dataDir)?.homes, false)
})

// The page had no --strip-components, so that the folder that it named held no backup.
test('the first command of "Restore into the image" makes a folder that can be restored', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-page-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const dataDir = path.join(folder, 'data')
  await fillSmallStore(null, dataDir, 'berth-ghkmn')
  const made = startCommand({ ...noEngine, DATA_DIR: dataDir }, ['backup', '-', '--no-homes'])
  writeFileSync(path.join(folder, 'berth.tar'), await buffer(made.stdout ?? Readable.from([])))

  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/how-to/back-up-and-restore.md'), 'utf8')
  const section = page.slice(page.indexOf('### Restore into the image'))
  const command = /^mkdir .* tar .*$/m.exec(section)?.[0] ?? ''
  const backup = path.join(folder, 'backup')
  // Another owner is for root alone to give.
  const here = command.replaceAll('/srv/backup', backup).replace('chown -R 10001', 'test -d')
  execFileSync('sh', ['-c', here], { cwd: folder, stdio: 'pipe' })
  const { parts } = await readManifest(backup)
  await verifyParts(backup, parts, new AbortController().signal)
})
