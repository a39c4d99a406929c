import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatBytes, message } from '@berth/texts/localized-message.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteEnvironment,
  deleteVersions,
  failUnfinished,
  findEnvironment,
  findVersion,
  finishVersion,
  insertEnvironment,
  insertVersion,
  listBuilt,
  listEnvironments,
  listPublished,
  listVersions,
  readLog,
  setBuilding,
  setPublished,
  sumOfImages,
  updateEnvironment,
} from '#/store/environments.ts'
import { deleteTrial, insertTrial, listTrials } from '#/store/environment-trials.ts'
import { deleteGroup, insertGroup, localSource } from '#/store/groups.ts'
import { forgetPulledImage, listPulledImages, noteNeededImages, notePulledImage } from '#/store/pulled-images.ts'
import { deleteUser, insertUser } from '#/store/users.ts'
import { dialects, later, now, useStore } from '../support/store/both-databases.ts'

const source = { dockerfile: 'FROM a' }
const fields = { description: 'x', source, groupId: null }

for (const dialect of dialects) {
  describe(`environments in ${dialect}`, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))

    async function make(name: string, groupId: number | null = null) {
      const made = await insertEnvironment(database.db, { ...fields, name, groupId }, now)
      assert.ok(made)
      return made
    }

    test('a name is given once, and an environment outlives its group', async () => {
      const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
      const group = { name: 'g', description: '', types: null, limits, expiresAt: null }
      const { id } = (await insertGroup(database.db, { ...group, source: localSource, createdAt: now })) ?? { id: 0 }
      const made = await make('one', id)
      assert.equal(await insertEnvironment(database.db, { ...fields, name: 'one' }, now), undefined)
      assert.deepEqual(await findEnvironment(database.db, 'one'), { ...made, published: null })
      const page = { limit: 10, after: 0 }
      assert.deepEqual((await listEnvironments(database.db, page, [id])).length, 1)
      assert.deepEqual(await listEnvironments(database.db, page, []), [])
      await deleteGroup(database.db, id)
      assert.equal((await findEnvironment(database.db, 'one'))?.groupId, null)
      const changed = { description: 'y', source: { base: 'b', apt: ['jq'] }, groupId: null }
      await updateEnvironment(database.db, made.id, changed)
      assert.deepEqual(await findEnvironment(database.db, 'one'), { ...made, ...changed })
    })

    test('versions have numbers that are never given twice, a state, an end with its output, and go with the environment', async () => {
      const made = await make('two')
      const { db } = database
      const [first, second] = [await insertVersion(db, made, now), await insertVersion(db, made, now)]
      assert.deepEqual([first.version, second.version, second.state], [1, 2, 'waiting'])
      assert.deepEqual(second.createdAt, now)
      await setBuilding(db, first.id)
      await finishVersion(db, first.id, { state: 'ready', imageId: 'sha256:1', size: 5_000_000_000, source }, 'log 1')
      const error = message('environments.tooLarge', { max: formatBytes(1024 ** 3) })
      await finishVersion(db, second.id, { state: 'failed', error }, 'log 2')
      assert.deepEqual((await findVersion(db, made.id, 2))?.error, error)
      assert.deepEqual(
        (await listVersions(db, [made.id])).map(({ version, state, size }) => [version, state, size]),
        [
          [2, 'failed', null],
          [1, 'ready', 5_000_000_000],
        ],
      )
      assert.equal(await readLog(db, first.id), 'log 1')
      await setPublished(db, made.id, 1)
      assert.deepEqual(await listPublished(db), [{ name: 'two', version: 1 }])
      await deleteVersions(db, [second.id])
      assert.equal(await readLog(db, second.id), undefined)
      const third = await insertVersion(db, made, now)
      assert.equal(third.version, 3)
      assert.deepEqual(
        (await listBuilt(db)).map(({ version, state }) => [version, state]),
        [
          [1, 'ready'],
          [3, 'waiting'],
        ],
      )
      await setBuilding(db, third.id)
      const failOthers = (except: number[], before: Date) =>
        failUnfinished(db, message('environments.interrupted'), { except, before })
      assert.equal(await failOthers([third.id], new Date(now.getTime() + 1)), 0)
      assert.equal(await failOthers([], now), 0, 'it is not older')
      assert.equal(await failUnfinished(db, message('environments.interrupted')), 1)
      assert.equal((await findVersion(db, made.id, 3))?.error?.key, 'environments.interrupted')
      await deleteEnvironment(db, made.id)
      assert.deepEqual(await listVersions(db, [made.id]), [])
      await finishVersion(db, third.id, { state: 'ready', imageId: 'x', size: 1, source }, 'late')
      assert.equal(await readLog(db, third.id), undefined)
    })

    test('a person tries one version at a time, and the trial goes with the account', async () => {
      const { db } = database
      const { id: userId } = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
      const trial = { userId, environment: 'one', version: 3, begunAt: now }
      assert.equal(await insertTrial(db, trial), true)
      assert.equal(await insertTrial(db, { ...trial, version: 4 }), false)
      assert.deepEqual(await listTrials(db), [trial])
      await deleteTrial(db, userId)
      assert.deepEqual(await listTrials(db), [])
      assert.equal(await insertTrial(db, trial), true)
      await deleteUser(db, userId)
      assert.deepEqual(await listTrials(db), [])
    })

    test('of images that were pulled the time counts at which they were needed last', async () => {
      const { db } = database
      await notePulledImage(db, 'a:1', now)
      await notePulledImage(db, 'b:1', now)
      await noteNeededImages(db, ['b:1', 'other:1'], later(5))
      await noteNeededImages(db, [], later(9))
      assert.deepEqual(await listPulledImages(db), [
        { image: 'a:1', neededAt: now },
        { image: 'b:1', neededAt: later(5) },
      ])
      await notePulledImage(db, 'a:1', later(7))
      await forgetPulledImage(db, 'b:1')
      assert.deepEqual(await listPulledImages(db), [{ image: 'a:1', neededAt: later(7) }])
    })

    test('images of versions that are ready are counted and added up', async () => {
      const { db } = database
      const before = await sumOfImages(db)
      const made = await make('sum')
      const [one] = [await insertVersion(db, made, now), await insertVersion(db, made, now)]
      await finishVersion(db, one.id, { state: 'ready', imageId: 'y', size: 7_000_000_000, source }, '')
      const { count, bytes } = await sumOfImages(db)
      assert.deepEqual([count - before.count, bytes - before.bytes], [1, 7_000_000_000])
    })
  })
}
