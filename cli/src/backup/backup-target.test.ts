import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { readManifest, verifyParts } from './backup-format.ts'
import { backupSigner } from './backup-signature.ts'
import { folderTarget, pruneBackups } from './backup-target.ts'

const installation = 'berth-ghkmn'
const volume = `${installation}-home-1-ann-dev`
const file = `homes/${volume}.tar`
const { signal } = new AbortController()
/** A signer without a file. */
const testSigner = () => backupSigner('', 's'.repeat(32))
const plain = { recipients: [], encrypt: (content: AsyncIterable<Uint8Array>) => content }

test('--keep leaves the backup that was just made, although others lie in the future', async (t) => {
  // After one night with a wrong clock, each later backup was removed as soon as it was made, and the command succeeded.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const store = { from: 'SQLite', migration: '001', rows: {} } as const
  const backUp = async (day: string, keep: number) => {
    const now = new Date(`${day}T02:00:00Z`)
    const target = await folderTarget(folder, 'berth-ghkmn', { ...plain, signer: await testSigner() }, now)
    const made = { format: 1, version: '1.0.0', createdAt: now.toISOString(), installation: 'berth-ghkmn' } as const
    const name = await target.finish({ ...made, store, recipients: [], parts: [], missing: [] })
    await pruneBackups(folder, 'berth-ghkmn', keep, name)
    return readdirSync(folder).map((each) => each.slice('berth-'.length, -'T020000Z'.length))
  }
  await backUp('2027-12-01', 2)
  await backUp('2027-12-02', 2)
  assert.deepEqual(await backUp('2026-11-27', 2), ['20261127', '20271202'])
  assert.deepEqual(await backUp('2026-11-28', 2), ['20261127', '20261128'])
  assert.deepEqual(await backUp('2026-11-29', 1), ['20261129'])
})

test('a backup removes what a killed one of its installation left, and no backup of another machine', async (t) => {
  // Of two machines with one folder, the one that began later removed what the other one was writing, which then failed.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // Above the largest process id of Linux.
  const gone = 2 ** 22 + 1
  for (const name of ['berth-ghkmn-', 'berth-pqrst-', '']) mkdirSync(path.join(folder, `.partial-${name}${gone}-1`))
  const target = await folderTarget(folder, 'berth-ghkmn', { ...plain, signer: await testSigner() })
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith(`-${gone}-1`)),
    [`.partial-berth-pqrst-${gone}-1`],
  )
  await target.discard()
  assert.deepEqual(readdirSync(folder), [`.partial-berth-pqrst-${gone}-1`])
})

// The hourly backups without homes took the places of the nightly ones: after a night that failed, no home was left in any.
test('--keep counts backups without homes apart, and the next one with homes is linked to the last with homes', async (t) => {
  const { folder, backUp } = backups(t)
  const full = await backUp('10')
  const hourly: string[] = []
  for (const day of ['11', '12', '13']) {
    hourly.push(await backUp(day, false))
    await pruneBackups(folder, installation, 2, hourly.at(-1))
  }
  assert.deepEqual(
    readdirSync(folder).sort(),
    [full, ...hourly.slice(1)].map((each) => path.basename(each)),
  )
  const next = await backUp('14')
  assert.equal(statSync(path.join(next, file)).ino, statSync(path.join(full, file)).ino)
  assert.deepEqual(await pruneBackups(folder, installation, 1, next), [full])
})

test('a backup of a version that does not say whether it has homes counts as one without, if it names none', async (t) => {
  const { folder, backUp } = backups(t)
  const [withHome, without] = [await backUp('10', 'unsaid', true), await backUp('11', 'unsaid', false)]
  const last = await backUp('12', false)
  assert.deepEqual(await pruneBackups(folder, installation, 1, last), [without])
  assert.deepEqual(
    readdirSync(folder).sort(),
    [withHome, last].map((each) => path.basename(each)),
  )
})

// Each night read the home whole, and replaced the new file by a link to the damaged one, so that no backup could be restored.
test('a home that did not change is not linked to a file that was damaged since', async (t) => {
  const damages = [() => '', (text: string) => text.replace('f', 'F'), undefined]
  for (const damage of damages) {
    const { backUp } = backups(t)
    const first = path.join(await backUp('10'), file)
    if (damage) writeFileSync(first, damage(readFileSync(first, 'utf8')))
    else rmSync(first)
    const second = await backUp('11')
    await verifyParts(second, (await readManifest(second)).parts, signal)
    const third = await backUp('12')
    assert.equal(statSync(path.join(third, file)).ino, statSync(path.join(second, file)).ino)
  }
})

/** A folder of backups of one installation, with one home that does not change. */
function backups(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const home = { volume, owner: { userId: 1, slug: 'ann', type: 'dev' } }
  const backUp = async (day: string, homes: boolean | 'unsaid' = true, isSaved = homes) => {
    const now = new Date(`2026-11-${day}T02:00:00Z`)
    const target = await folderTarget(folder, installation, { ...plain, signer: await testSigner() }, now)
    const add = () => target.add({ kind: 'home', file, home, content: Readable.from([Buffer.from('files')]) }, signal)
    const parts = isSaved ? [await add()] : []
    const store = { from: 'SQLite', migration: '001', rows: {} } as const
    const made = { format: 1, version: '1.0.0', createdAt: now.toISOString(), installation } as const
    const said = homes === 'unsaid' ? {} : { homes }
    return target.finish({ ...made, store, recipients: [], parts, ...said, missing: [] })
  }
  return { folder, backUp }
}
