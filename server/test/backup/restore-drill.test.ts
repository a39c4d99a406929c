// Part of npm run test:long: the drill of a whole installation; backup.test.ts restores each part.
// Needs a process of its own: it takes the time of ten others.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { readManifest } from '@berth/cli/backup/backup-format.ts'
import { installationName, openDatabase } from '#/store/database.ts'
import { testTemplates } from '#test/support/berth.ts'
import { noEngine, resultOf, runCommand, signedBy, startCommand } from '#test/support/command-line.ts'
import { askEngine, removeInstallation } from '#test/support/engine/engine.ts'
import { onlyLong } from '#test/support/extent.ts'
import { runProgram, signIn, type Program } from '#test/support/program.ts'
import { addressesIn, fillSmallStore } from '#test/support/store/filled-store.ts'
import { startPostgres } from '#test/support/store/postgres.ts'

/** A backup of a service with a real container, everything lost, and the restore on an empty machine. */

/** Keeps writing while it is backed up, and holds a link and a file of the user of the image. */
const command = [
  '/bin/sh',
  '-c',
  "cd /home/berth; echo precious > file.txt; ln -sf /etc/passwd link; trap 'exit 0' TERM; httpd -f -p 8080 -h /home/berth & while :; do date >> log.txt; sleep 0.05; done & wait $!",
]

async function drill(t: TestContext, url: string | null, freshUrl: string | null): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-drill-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const templates = { CONTAINER_TEMPLATES: await testTemplates({ command }) }
  const settings = { ...templates, ...(url === null ? {} : { DATABASE_URL: url }) }
  const service = runProgram(t, settings)
  await signIn(service, 'boss@x.org')
  const token = await signIn(service, 'ann@x.org')
  await launch(service, token)
  const backups = path.join(folder, 'backups')
  const berth = (...args: string[]) => runCommand({ ...settings, DATA_DIR: service.dataDir }, ...args)

  const orders = path.join(folder, 'orders')
  writeFileSync(orders, 'backup.after-home')
  const ordered = { ...settings, DATA_DIR: service.dataDir, BERTH_CRASH_ORDERS: orders }
  const killed = startCommand(ordered, ['backup', backups])
  await resultOf(killed)
  assert.equal(killed.signalCode, 'SIGKILL')

  const slowest = measureRequests(service, token)
  const first = await berth('backup', backups, '--json')
  assert.equal(first.code, 0, first.stderr)
  assert.ok((await slowest()) > 0)
  const { backup } = JSON.parse(first.stdout) as { backup: string }
  // What the killed one left is gone.
  assert.deepEqual(readdirSync(backups), [path.basename(backup)])
  const { parts, installation } = await readManifest(backup)
  const homes = parts.filter(({ kind }) => kind === 'home')
  assert.deepEqual(homes.map(({ home }) => home?.owner.slug).sort(), ['ann', 'boss'])

  await takeHomeBeside(berth, backup, path.join(folder, 'ann'))
  const refused = await berth('restore', backup)
  assert.match(refused.stderr, /Berth runs \(process \d+\)\. Stop it first/)

  service.process.kill('SIGTERM')
  assert.equal(await service.ended(), 0)
  await assertUnchangedIsLinked(berth, backups, installation)
  await removeInstallation(installation)

  const dataDir = path.join(folder, 'new-machine')
  const place = { ...templates, DATA_DIR: dataDir, ...(freshUrl === null ? {} : { DATABASE_URL: freshUrl }) }
  const restored = await runCommand(place, 'restore', backup, ...(await signedBy(service.dataDir)))
  assert.equal(restored.code, 0, restored.stderr)
  const second = runProgram(t, place, dataDir)
  t.after(() => removeInstallation(installation))
  assert.equal((await second.fetch('/api/user/me', token)).status, 200)
  await launch(second, token)
  assert.equal(await (await second.fetch('/ann-dev/file.txt', token)).text(), 'precious\n')
  second.process.kill('SIGTERM')
  await second.ended()
  const { db, close } = await openDatabase(freshUrl, dataDir)
  assert.equal(await installationName(db, () => 'none'), installation)
  await close()
}

async function launch(service: Program, token: string): Promise<void> {
  const answer = await service.fetch('/api/container/launch/dev', token, { method: 'POST' })
  assert.equal(answer.status, 200, await answer.text())
}

/** @returns stops, and returns the longest time of a request in ms */
function measureRequests(service: Program, token: string): () => Promise<number> {
  const end = new AbortController()
  let slowest = 0
  const asking = (async () => {
    while (!end.signal.aborted) {
      const began = performance.now()
      assert.equal((await service.fetch('/api/user/me', token)).status, 200)
      slowest = Math.max(slowest, performance.now() - began)
    }
  })()
  return async () => {
    end.abort()
    await asking
    return slowest
  }
}

type Berth = (...args: string[]) => ReturnType<typeof runCommand>

async function takeHomeBeside(berth: Berth, backup: string, into: string): Promise<void> {
  const { code, stderr } = await berth('restore', backup, '--home', 'ann', '--into', into)
  assert.equal(code, 0, stderr)
  assert.equal(readFileSync(path.join(into, 'file.txt'), 'utf8'), 'precious\n')
  if (process.getuid?.() === 0) assert.equal(statSync(path.join(into, 'file.txt')).uid, 1000)
  const again = await berth('restore', backup, '--home', 'ann', '--into', into)
  assert.match(again.stderr, /exists; nothing was changed/)
  const unknownHome = await berth('restore', backup, '--home', 'eve', '--into', `${into}2`)
  assert.match(unknownHome.stderr, /the backup has no home of eve/)
  assert.ok(!existsSync(`${into}2`))
}

/** Once its container is gone, no program writes to a home: its file takes no further space in the next backup. */
async function assertUnchangedIsLinked(berth: Berth, backups: string, installation: string): Promise<void> {
  const filters = JSON.stringify({ label: [`berth.instance=${installation}`] })
  const containers = await askEngine<{ Id: string }[]>('GET', '/containers/json', { query: { all: '1', filters } })
  for (const { Id } of containers) await askEngine('DELETE', `/containers/${Id}`, { query: { force: '1' } })
  const make = async () => {
    const { code, stdout, stderr } = await berth('backup', backups, '--json')
    assert.equal(code, 0, stderr)
    const { backup } = JSON.parse(stdout) as { backup: string }
    const { parts } = await readManifest(backup)
    return parts.filter(({ kind }) => kind === 'home').map(({ file }) => statSync(path.join(backup, file)).ino)
  }
  assert.deepEqual(await make(), await make())
}

test('after everything is lost a backup of a SQLite installation restores users, sessions and homes', async (t) => {
  await drill(t, null, null)
})

test('a backup of a PostgreSQL installation is restored to another PostgreSQL', onlyLong, async (t) => {
  const [old, fresh] = [await startPostgres(), await startPostgres()]
  try {
    await drill(t, old.url, fresh.url)
  } finally {
    // Hooks run in this order: the programs of the drill need their store for their own.
    t.after(() => Promise.all([old.stop(), fresh.stop()]))
  }
})

test(
  'an encrypted backup of PostgreSQL is restored to another PostgreSQL with the secret key alone',
  onlyLong,
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'berth-drill-'))
    const [old, fresh] = [await startPostgres(), await startPostgres()]
    t.after(() => Promise.all([old.stop(), fresh.stop()]))
    t.after(() => rmSync(folder, { recursive: true }))
    const settings = { ...noEngine, DATA_DIR: path.join(folder, 'data'), DATABASE_URL: old.url }
    await fillSmallStore(old.url, settings.DATA_DIR, 'berth-ghkmn')
    const identity = await generateIdentity()
    const identityFile = path.join(folder, 'identity')
    writeFileSync(identityFile, `${identity}\n`)
    const recipient = await identityToRecipient(identity)
    const made = await runCommand(settings, 'backup', folder, '--no-homes', '--json', '--encrypt-to', recipient)
    assert.equal(made.code, 0, made.stderr)
    const { backup } = JSON.parse(made.stdout) as { backup: string }
    for (const name of readdirSync(backup))
      assert.doesNotMatch(readFileSync(path.join(backup, name), 'latin1'), /ann@x\.org/)
    const place = { ...settings, DATA_DIR: path.join(folder, 'other'), DATABASE_URL: fresh.url }
    assert.match(
      (await runCommand(place, 'restore', backup, ...(await signedBy(settings.DATA_DIR)))).stderr,
      /encrypted.*--identity/,
    )
    const { code, stderr } = await runCommand(
      place,
      'restore',
      backup,
      '--identity',
      identityFile,
      ...(await signedBy(settings.DATA_DIR)),
    )
    assert.equal(code, 0, stderr)
    assert.deepEqual(await addressesIn(fresh.url, place.DATA_DIR), await addressesIn(old.url, settings.DATA_DIR))
  },
)
