import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/api-calls.ts'
import { startEnginelessBerth } from '#test/support/berth-without-engine.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { startGroupBerth } from '#test/support/group-berth.ts'
import { faultyStore } from '#test/support/store/faulty-store.ts'
import { inDays } from '#test/support/term-end-berth.ts'

/** Ends of terms where there are none, or cannot be. */

test('without a group the store is asked once after the start whether a term ends, and then never again', async (t) => {
  const asked: string[] = []
  const fails = (query: string) => {
    asked.push(query)
    return false
  }
  await startEnginelessBerth(t, { pace: { every: 20 }, wrapDatabase: (database) => faultyStore(database, { fails }) })
  const runs = () => asked.filter((query) => query.includes('revoked_tokens')).length
  await pollUntil(
    () => runs() > 20,
    () => `${runs()} queries of the reconciler`,
  )
  assert.equal(asked.filter((query) => query.includes('term_end')).length, 1)
})

test('where the engine does not let homes be read, it is refused, and nothing changes', async (t) => {
  const { boss, group } = await startGroupBerth(t)
  const { id } = await group({ name: 'Course' })
  assertRefused(await boss.call('GET', `/api/admin/groups/${id}/term-end/preview`), 409)
  assertRefused(await boss.call('POST', `/api/admin/groups/${id}/term-end`, { keep_until: inDays(30) }), 409)
  assert.equal((await boss.call('GET', `/api/admin/groups/${id}`)).body.group.expires_at, null)
})
