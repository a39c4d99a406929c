import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { hashToken } from '#/accounts/sign-up/magic-link.ts'
import { openDatabase } from '#/store/database.ts'
import { insertArchiveLink, setHomeArchive } from '#/store/home-archives.ts'
import { insertTermEnd, insertTermEndMembers, listTermEndMembers } from '#/store/term-ends.ts'
import { ArchiveDownloads } from '#/groups/term-end/archive-downloads.ts'
import { ArchiveStore } from '#/homes/archive-store.ts'
import { insertGroup, localSource } from '#/store/groups.ts'
import { copyEmptyStore, quickFolder } from '#test/support/store/empty-store.ts'

/** Limits of downloads by mailed links. */
const now = new Date('2027-07-31T20:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
const holder = { address: '192.0.2.1' }

async function start(t: { after(end: () => Promise<void>): void }) {
  const folder = await mkdtemp(path.join(quickFolder(), 'berth-test-'))
  await copyEmptyStore(folder)
  const database = await openDatabase(null, folder)
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  const { db } = database
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const group = { name: 'Course', description: '', types: null, limits, expiresAt: null, source: localSource }
  const { id: groupId } = (await insertGroup(db, { ...group, createdAt: now }))!
  const id = await insertTermEnd(db, {
    groupId,
    groupName: 'Course',
    removesAccounts: true,
    removeAt: now,
    keepUntil: later(86_400),
    groupEnd: null,
    startedAt: now,
    actorId: null,
    actorName: 'operator root',
    language: 'en',
  })
  await insertTermEndMembers(db, id, [{ userId: 7, email: 'ann@x.org', slug: 'ann', stays: null }])
  const memberId = (await listTermEndMembers(db, id, { limit: 1, after: 0 }))[0]!.id
  const files = new ArchiveStore(path.join(folder, 'archives'))
  const archive = (async function* () {
    yield Buffer.alloc(200_000, 'x')
  })()
  const written = await files.write(String(id), 'one', archive)
  await setHomeArchive(db, { memberId, type: 'lab', ...written, recordState: 'none', now })
  await insertArchiveLink(db, memberId, hashToken('link'), now)
  const downloads = new ArchiveDownloads(database, files)
  const ticket = (at = now) => downloads.begin('link', 'lab', holder, at)
  return { folder, files, id, downloads, ticket, written }
}

test('a ticket is good for one download, for a minute', async (t) => {
  const { downloads, ticket } = await start(t)
  const [one, two] = [await ticket(), await ticket()]
  const { content, name } = await downloads.read(one, later(59))
  content.destroy()
  assert.equal(name, 'Course-lab.tar.gz')
  await assert.rejects(downloads.read(one, later(59)), { status: 404 })
  await assert.rejects(downloads.read(two, later(60)), { status: 404 })
})

test('three downloads of one person at once; the next one waits until one has ended', async (t) => {
  const { downloads, ticket } = await start(t)
  const under = await Promise.all([ticket(), ticket(), ticket()].map(async (each) => downloads.read(await each, now)))
  const fourth = await ticket()
  await assert.rejects(downloads.read(fourth, now), { status: 429 })
  const [first] = under
  first?.content.destroy()
  await new Promise((resolve) => first?.content.once('close', resolve))
  const { content } = await downloads.read(fourth, now)
  for (const each of [...under.map((other) => other.content), content]) each.destroy()
})

test('after fifty downloads the link begins no more', async (t) => {
  const { downloads, ticket } = await start(t)
  for (let at = 0; at < 50; at++)
    (await downloads.read(await ticket(), now)).content.destroy().once('error', () => undefined)
  await assert.rejects(ticket(), { status: 429, code: 'tooManyDownloads' })
})

test('a file that is gone or was cut off is no archive', async (t) => {
  const { files, downloads, ticket, written } = await start(t)
  const pending = await ticket()
  await files.remove(written.file)
  await assert.rejects(downloads.read(pending, now), { status: 404 })
  await assert.rejects(ticket(), { status: 404 })
})

// A folder of archives that could not be read was no archive: holders of links were told that theirs had been deleted.
test('an archive that cannot be read is a failure, and not gone', async (t) => {
  const { folder, downloads, ticket } = await start(t)
  const pending = await ticket()
  await rename(path.join(folder, 'archives'), path.join(folder, 'away'))
  await writeFile(path.join(folder, 'archives'), 'no folder')
  await assert.rejects(downloads.read(pending, now), { code: 'ENOTDIR' })
  await assert.rejects(ticket(), { code: 'ENOTDIR' })
})
