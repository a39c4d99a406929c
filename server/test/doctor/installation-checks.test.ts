import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { noteBackup } from '@berth/cli/backup/create-backup.ts'
import {
  checkBackups,
  checkNodes,
  checkService,
  checkSettings,
  checkStoreAnswers,
} from '@berth/cli/doctor/check-installation.ts'
import { runChecks } from '@berth/cli/doctor/run-checks.ts'
import { waitFor } from '../support/program.ts'
import { prepareCluster, startPostgres } from '../support/store/postgres.ts'
import { contextFor, folderFor, inWords } from './check-context.ts'

const { signal } = new AbortController()
const day = 86_400_000

test('backups: none, an old one, an incomplete one and one that is gone are reported; a fresh one elsewhere is well', async (t) => {
  const context = contextFor(t)
  const { dataDir } = context.config
  assert.deepEqual(await checkBackups(context), [], 'before the first start there is nothing to back up')
  writeFileSync(path.join(dataDir, 'signing-key.json'), '{}')
  const later = (days: number) => ({ ...context, now: new Date(Date.now() + days * day) })
  assert.match(inWords(await checkBackups(context)), /^hint: No backup was made/)
  assert.match(inWords(await checkBackups(later(2))), /^warning: No backup was made/)
  assert.match(inWords(await checkBackups(later(8))), /^critical: No backup was made/)
  const at = new Date().toISOString()
  noteBackup(dataDir, { at, folder: null, missing: 0 })
  assert.deepEqual(await checkBackups(context), [])
  assert.match(inWords(await checkBackups(later(3))), /^warning: The last backup is 3 days old/)
  assert.match(inWords(await checkBackups(later(9))), /^critical: The last backup is 9 days old/)
  noteBackup(dataDir, { at, folder: null, missing: 2 })
  assert.match(inWords(await checkBackups(context)), /^warning: The last backup lacks 2 homes/)
  const folder = folderFor(t)
  noteBackup(dataDir, { at, folder, missing: 0 })
  assert.match(inWords(await checkBackups(context)), /^hint: The last backup is on the disk of the data/)
  rmSync(folder, { recursive: true })
  assert.match(inWords(await checkBackups(context)), /^warning: The last backup is not in /)
  // A loss of power left it empty, and every backup without homes failed behind its last step.
  writeFileSync(path.join(dataDir, 'last-backup.json'), '')
  noteBackup(dataDir, { at, folder: null, missing: 0, homes: false })
  assert.match(inWords(await checkBackups(context)), /^hint: The last backup is without homes/)
})

// Nothing said that no home is in any backup, or not since a nightly one began to fail, because an hourly one without them did not.
test('backups without homes: that there is none with them, that it is old, or incomplete, is reported', async (t) => {
  const context = contextFor(t)
  const { dataDir } = context.config
  writeFileSync(path.join(dataDir, 'signing-key.json'), '{}')
  const note = (now: Date, missing: number, homes: boolean) =>
    noteBackup(dataDir, { at: now.toISOString(), folder: null, missing, homes })
  const now = new Date()
  note(now, 0, false)
  assert.match(inWords(await checkBackups(context)), /^hint: The last backup is without homes, and none with them/)
  note(now, 2, true)
  note(now, 0, false)
  assert.match(inWords(await checkBackups(context)), /^warning: The last backup lacks 2 homes[^\n]*$/)
  note(now, 0, true)
  note(now, 0, false)
  assert.deepEqual(await checkBackups(context), [])
  const later = new Date(now.getTime() + 3 * day)
  note(later, 0, false)
  const found = inWords(await checkBackups({ ...context, now: later }))
  assert.match(found, /^warning: The last backup with homes is 3 days old/)
})

test('a store that does not answer is critical, with the reason', async (t) => {
  const away = contextFor(t, { DATABASE_URL: 'postgres://127.0.0.1:1/berth' })
  assert.match(inWords(await checkStoreAnswers(away)), /^critical: The store does not answer \(.*ECONNREFUSED/)
  const damaged = contextFor(t)
  const file = path.join(damaged.config.dataDir, 'berth.sqlite')
  writeFileSync(file, 'this is no database, but text that is long enough to be read as one'.repeat(20))
  utimesSync(file, 1, 1)
  assert.match(inWords(await checkStoreAnswers(damaged)), /^critical: The store does not answer/)
  assert.deepEqual(await checkStoreAnswers(contextFor(t)), [])
})

test('what settings switch off is a finding unless another check judges it, and a line without effect a hint', async (t) => {
  const settings = { BASE_DOMAIN: 'x.org', HOST_RULES: 'off', REQUESTS_PER_MINUTE: '0' }
  const notes = ['berth.env: COLOUR is no setting of Berth']
  const found = inWords(await checkSettings(contextFor(t, settings, { notes })))
  assert.match(found, /^warning: REQUESTS_PER_MINUTE=0[^\n]*\nhint: berth\.env: COLOUR is no setting of Berth$/)
})

test('a service: not running is a hint, not answering and failures are critical, its own warnings are passed on', async (t) => {
  assert.match(inWords(await checkService(contextFor(t))), /^hint: Berth does not run/)
  assert.match(inWords(await checkService(contextFor(t, {}, { service: 'It hangs.' }))), /^critical: It hangs\.$/)
  const service = {
    reconciler: { failures: ['The engine refused.'] },
    warnings: ['Memory is short.', 'Requests with forwarding headers come from 10.0.0.7'],
    mail: { accepted: 5, failed: 5, failures: [{ reason: '550 no such user' }] },
  } as unknown as SystemReport
  const found = inWords(await checkService(contextFor(t, {}, { service })))
  assert.match(
    found,
    /^critical: The engine refused\.\nwarning: Memory is short\.\nwarning: 5 of 10 mails .*550 no such user/,
  )
})

const node = (address: string, changes: object = {}) => ({
  address,
  version: '1.0.0',
  started_at: '2026-11-23T10:00:00.000Z',
  seen_at: '2026-11-23T12:00:00.000Z',
  is_alive: true,
  is_current: true,
  leads_since: null,
  ...changes,
})

test('nodes: one that is silent, behind, alone or of another version is reported, and a standby that may lose something', async (t) => {
  assert.deepEqual(await checkNodes(contextFor(t)), [], 'a single node has none')
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const settings = { DATABASE_URL: postgres.url, NODE_ADDRESS: '10.0.0.1:7070', SMTP_URL: 'smtp://mail.x.org' }
  const find = async (...nodes: object[]) =>
    inWords(await checkNodes(contextFor(t, settings, { service: { nodes } as unknown as SystemReport })))
  assert.equal(await find(node('a:1'), node('b:1')), '')
  assert.match(
    await find(node('a:1'), node('b:1', { is_alive: false })),
    /^warning: Node b:1 .* heartbeat since 2026-11-23T12[^]*hint: One node runs/,
  )
  assert.match(await find(node('a:1'), node('b:1', { is_current: false })), /^critical: Node b:1 refuses containers/)
  assert.match(
    await find(node('a:1'), node('b:1', { version: '1.0.1' })),
    /^hint: Nodes run versions 1\.0\.0 and 1\.0\.1/,
  )
  assert.equal(inWords(await checkNodes(contextFor(t, settings))), '', 'nothing runs here')
  // Receives what a standby would, and no commit waits for it.
  const { bin } = await prepareCluster()
  const words = ['-d', postgres.url, '-D', folderFor(t), '--no-loop']
  const standby = spawn(path.join(bin, 'pg_receivewal'), words, { stdio: 'ignore' })
  t.after(() => standby.kill('SIGKILL'))
  await waitFor('the standby', async () => inWords(await checkNodes(contextFor(t, settings))) !== '')
  assert.match(inWords(await checkNodes(contextFor(t, settings))), /^warning: PostgreSQL replicates .* asynchronously/)
})

test('a check that hangs or fails is not checked, at its limit, and holds up no other', async (t) => {
  const checks = [
    { name: 'hangs', run: () => new Promise<never>(() => {}) },
    { name: 'fails', run: () => Promise.reject(new Error('no such thing', { cause: new Error('ENOENT') })) },
    { name: 'finds', run: async () => [{ level: 'hint', what: 'a', fix: 'b' }] as const },
  ]
  const results = await runChecks(checks, contextFor(t), signal, 50)
  assert.deepEqual(
    results.map(({ notChecked }) => notChecked),
    ['no result in 0.05 s', 'no such thing: ENOENT', null],
  )
})
