import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Refusal } from '#/refusals/errors.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import type { Actor } from './actor.ts'
import { administer } from './administrator-changes.ts'

/** The operator, who has no account to be looked up. */
const operator = { id: null } as Actor

/** A store whose transactions only run the work. */
const storeOf = () => {
  const transaction = async <T>(work: (tx: Tx) => Promise<T>) => work({} as Tx)
  return { db: {} as Db, transaction, lock: async () => undefined } as unknown as Database
}

const isBusy = (error: unknown) => {
  assert.ok(error instanceof Refusal, String(error))
  assert.deepEqual([error.status, error.code, error.headers['retry-after']], [503, 'tooManyChanges', '5'])
  return true
}

test('a change that waits behind others for 8 s is refused with words, and is no bug', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const [database, slow] = [storeOf(), Promise.withResolvers<string>()]
  const first = administer(database, operator, () => slow.promise)
  const second = administer(database, operator, async () => assert.fail('it was not to begin'))
  let refusal: unknown
  second.catch((error: unknown) => (refusal = error))
  t.mock.timers.tick(8_000)
  await turn()
  isBusy(refusal)
  slow.resolve('done')
  assert.equal(await first, 'done')
  assert.equal(await administer(database, operator, async () => 'next'), 'next')
})

test('of a thousand changes that wait the next one is refused so at once', async () => {
  const [database, slow] = [storeOf(), Promise.withResolvers<void>()]
  const all = Array.from({ length: 1_001 }, () => administer(database, operator, () => slow.promise))
  await assert.rejects(
    administer(database, operator, () => slow.promise),
    isBusy,
  )
  slow.resolve()
  await Promise.all(all)
})
