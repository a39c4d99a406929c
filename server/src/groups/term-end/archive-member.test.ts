import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { SingleFlight } from '#/machine/single-flight.ts'
import { ContainerRemoval } from '#/containers/container-removal.ts'
import { DiskNearlyFull } from '#/machine/disk-room.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { insertRemovals } from '#/store/removals.ts'
import { insertGroup, localSource } from '#/store/groups.ts'
import { listArchivesOf, setHomeArchive } from '#/store/home-archives.ts'
import { insertTermEnd, insertTermEndMembers, listTermEndMembers } from '#/store/term-ends.ts'
import { insertUser } from '#/store/users.ts'
import { unsharedHomes } from '#test/support/unshared-homes.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { ArchiveStore } from '#/homes/archive-store.ts'
import { ArchiveMember, pauseFor, type ArchiveMemberParts } from './archive-member.ts'

const now = new Date('2027-07-31T20:00:00Z')
const whole = { file: '1/whole.tar.gz', bytes: 1_000 }

/** An engine that has removed a part of a home when it was killed; the rest goes with the next attempt. */
class HalfRemovedHome {
  isThere = true

  async removeHome(): Promise<void> {
    this.isThere = false
  }

  async *read(volume: string): AsyncGenerator<Uint8Array> {
    if (!this.isThere) throw new RuntimeError('missing', `read ${volume}`)
    yield Buffer.from('the rest')
  }
}

// The rest of the home was archived in place of the whole archive, which was the only copy then.
test('a home whose removal is pending is removed before it would be archived, and an earlier archive stays', async (t) => {
  const { database, member } = await storeWithMember(t)
  const { db } = database
  await setHomeArchive(db, { memberId: member.id, type: 'lab', ...whole, recordState: 'before the purge', now })
  await insertRemovals(db, [{ userId: member.userId, slug: 'ann', type: 'lab', containerId: null }], {
    isPurge: true,
    now,
  })

  const home = new HalfRemovedHome()
  const singleFlight = new SingleFlight()
  const runtime = { inspect: async () => undefined, removeHome: () => home.removeHome() } as Partial<Runtime> as Runtime
  const written: string[] = []
  const archiveMember = new ArchiveMember({
    database,
    contents: home,
    runtime,
    files: {
      has: async () => true,
      freeBytes: async () => Infinity,
      write: async (_id: number, _name: string, archive: AsyncIterable<Uint8Array>) => {
        for await (const part of archive) written.push(Buffer.from(part).toString())
        return { file: '1/rest.tar.gz', bytes: 8 }
      },
    },
    removal: new ContainerRemoval({ runtime, database, singleFlight, homes: unsharedHomes(), installation: 'berth' }),
    homes: unsharedHomes(),
    singleFlight,
    installation: 'berth',
    stop: async () => false,
    bytesOf: () => undefined,
  } as unknown as ArchiveMemberParts)
  await archiveMember.run(member, ['lab'], new AbortController().signal)
  assert.deepEqual(written, [])
  assert.deepEqual(
    (await listArchivesOf(db, member.id)).map(({ file, bytes }) => ({ file, bytes })),
    [whole],
  )
})

/** @param free bytes for archives, before and while one is written, and after it is gone again @param size of the home; undefined: not measured */
async function archiveWith(t: TestContext, free: readonly [number, number], size?: number): Promise<unknown> {
  const { database, member } = await storeWithMember(t)
  const runtime = { inspect: async () => undefined } as Partial<Runtime> as Runtime
  const singleFlight = new SingleFlight()
  let isWritten = false
  const archiveMember = new ArchiveMember({
    database,
    contents: { read: async function* () {} },
    runtime,
    files: {
      freeBytes: async () => free[isWritten ? 1 : 0],
      write: async () => {
        isWritten = true
        throw new DiskNearlyFull('the reserve')
      },
    },
    removal: new ContainerRemoval({ runtime, database, singleFlight, homes: unsharedHomes(), installation: 'berth' }),
    homes: unsharedHomes(),
    singleFlight,
    installation: 'berth',
    stop: async () => false,
    bytesOf: () => size,
  } as unknown as ArchiveMemberParts)
  return archiveMember.run(member, ['lab'], new AbortController().signal).then(
    () => assert.fail('archived'),
    (error: unknown) => error,
  )
}

// A file of holes, or a home that no measurement knows, made the end of a term wait for the disk, with all other members.
test('a home that is larger than the room for archives fails alone; the disk is full for all when only its reserve is left', async (t) => {
  for (const [free, size] of [
    [[1_000, 1_000], 1_001],
    [[1_000, 1_000], undefined],
  ] as const) {
    const error = await archiveWith(t, free, size)
    assert.equal(pauseFor(error), undefined, String(error))
    assert.match(String(error), /room|more on their disk/)
  }
  for (const [free, size] of [
    [[0, 0], 1],
    [[0, 0], undefined],
    [[1_000, 0], 1_000],
  ] as const)
    assert.equal(pauseFor(await archiveWith(t, free, size))?.problem, 'disk')
})

// The next end of term wrote over the archives of one that had begun after the backup, and deleted them at its end.
test('ends of terms that a restored store numbers again leave earlier archives alone', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-archives-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const files = new ArchiveStore(folder)
  const archive = async (startedAt: Date, content: string) => {
    const { database, member } = await storeWithMember(t, startedAt)
    const singleFlight = new SingleFlight()
    const runtime = { inspect: async () => undefined } as Partial<Runtime> as Runtime
    const archiveMember = new ArchiveMember({
      database,
      contents: {
        read: async function* () {
          yield Buffer.from(content)
        },
      },
      runtime,
      files,
      removal: new ContainerRemoval({ runtime, database, singleFlight, homes: unsharedHomes(), installation: 'berth' }),
      homes: unsharedHomes(),
      singleFlight,
      installation: 'berth',
      stop: async () => false,
      bytesOf: () => undefined,
    } as unknown as ArchiveMemberParts)
    await archiveMember.run(member, ['lab'], new AbortController().signal)
    const [stored] = await listArchivesOf(database.db, member.id)
    assert.ok(stored)
    return { id: member.termEndId, file: stored.file }
  }
  const contentOf = async (file: string) => gunzipSync(await readFile(path.join(folder, file))).toString()

  const before = await archive(now, 'before the restore')
  const after = await archive(new Date(now.getTime() + 86_400_000), 'after the restore')
  assert.equal(after.id, before.id)
  assert.equal(await contentOf(before.file), 'before the restore')
  assert.equal(await contentOf(after.file), 'after the restore')
})

/** An end of term with one member. */
async function storeWithMember(t: TestContext, startedAt = now) {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const user = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const fields = { name: 'Course', description: '', types: ['lab'], limits, expiresAt: null, source: localSource }
  const group = await insertGroup(db, { ...fields, createdAt: now })
  const times = { removeAt: now, keepUntil: now, groupEnd: null, startedAt }
  const by = { actorId: null, actorName: 'operator root', language: 'en' } as const
  const id = await insertTermEnd(db, {
    groupId: group!.id,
    groupName: 'Course',
    removesAccounts: true,
    ...times,
    ...by,
  })
  await insertTermEndMembers(db, id, [{ userId: user.id, email: user.email, slug: user.slug, stays: null }])
  const [member] = await listTermEndMembers(db, id, { limit: 1, after: 0 })
  assert.ok(member)
  return { database, member }
}
