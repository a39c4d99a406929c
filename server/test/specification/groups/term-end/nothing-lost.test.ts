import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import type { TermEndMember } from '@berth/api/schemas/groups/term-end.ts'
import { findUser } from '#/store/users/users.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import type { Signed } from '#test/support/group-berth.ts'
import { inDays, startTermEndBerth } from '#test/support/term-end-berth.ts'

/** What would be lost by an end of term that is delayed, cancelled or overtaken by what people do meanwhile. */
const world = await startTermEndBerth({ after })
const { berth, boss, signUp, group, launch, until, homes } = world
const { db } = berth.database
const exists = async ({ id }: Signed) => (await findUser(db, id)) !== undefined
const isDone = ({ phase }: { phase: string }) => phase === 'done'
const soon = (ms: number) => new Date(Date.now() + ms).toISOString()
const folders = () => readdirSync(path.join(berth.dataDir, 'archives'))

// The administrator was demoted for the summer; promoted again in autumn, the removal went on, and the archives with it.
test('what is not removed by the date of the archives stays, and is said to', async () => {
  const [ann, sue] = [await signUp('ann@x.org'), await signUp('sue@x.org')]
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/promote`))
  const { id } = await group({ name: 'Late', types: ['lab', 'dev'] }, [ann])
  assertOk(await launch(ann, 'lab'))
  const target = `/api/admin/groups/${id}/term-end`
  assertOk(await sue.call('POST', target, { remove_at: soon(400), keep_until: soon(2_000) }))
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/demote`))
  await until(id, ({ problem }) => problem === 'administrator')
  const { counts } = await until(id, isDone)
  assertOk(await boss.call('POST', `/api/admin/users/${sue.id}/promote`))
  assert.equal(counts.failed, 1)
  const { members } = (await boss.call('GET', `${target}/members`)).body
  assert.deepEqual(
    (members as TermEndMember[]).map(({ state, problem, archives }) => [state, problem, archives]),
    [['failed', 'late', []]],
  )
  await pollUntil(
    () => folders().length === 0,
    () => `archives are left: ${folders()}`,
  )
  assert.deepEqual([await exists(ann), homes.contents.size > 0], [true, true])
  assertRefused(await boss.call('POST', `${target}/retry`), 409)
  // Another one begins from the start.
  assertOk(await boss.call('POST', target, { keep_until: inDays(30) }))
  await until(id, ({ counts: { done } }) => done === 1)
  assert.equal(await exists(ann), false)
})
