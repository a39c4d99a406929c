import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, recordOf } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** A list with 0 in it was refused whole, and no container of it was blocked. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')

const unknown = [0, -1, Number.MIN_SAFE_INTEGER, 10 ** 15, Number.MAX_SAFE_INTEGER, 999_999]

test('numbers that no record has are in `not_found`, and the others of a bulk list are done', async () => {
  const { id } = await recordOf(admin, ann.id)
  for (const verb of ['block', 'unblock'] as const) {
    const body = { container_ids: [0, id, ...unknown] }
    const reply = await admin.call('POST', `/api/admin/containers/bulk-${verb}`, { body })
    assertOk(reply)
    assert.deepEqual(reply.body.not_found, unknown)
    assert.equal((await recordOf(admin, ann.id)).is_blocked, verb === 'block')
  }
})

test('so it is with users', async () => {
  for (const verb of ['block', 'unblock'] as const) {
    const body = { user_ids: [0, ann.id, ...unknown] }
    const reply = await admin.call('POST', `/api/admin/users/bulk-${verb}`, { body })
    assertOk(reply)
    assert.deepEqual(reply.body.not_found, unknown)
    assert.deepEqual(
      reply.body.users.map((user: { id: number }) => user.id),
      [ann.id],
    )
  }
})

test('numbers that JSON cannot carry exactly are 400, and nothing is done', async () => {
  const { id } = await recordOf(admin, ann.id)
  for (const large of ['9007199254740992', '-9007199254740992', '1e20', '1e400', '1.5'])
    for (const [path, own] of [
      ['containers', `"container_ids": [${id}`],
      ['users', `"user_ids": [${ann.id}`],
    ] as const) {
      const body = `{${own}, ${large}]}`
      assertRefused(await admin.call('POST', `/api/admin/${path}/bulk-block`, { body }), 400)
    }
  assert.equal((await recordOf(admin, ann.id)).is_blocked, false)
})

// PostgreSQL fails with numbers from 2^63 on, which was 500.
test('the group of a share is no such number either', async () => {
  const share = { may: 'look', expires_at: new Date(Date.now() + 60_000).toISOString() }
  for (const group_id of [0, 1e20, 2 ** 63, 1.5])
    assertRefused(await ann.call('POST', '/api/container/shares/dev', { body: { ...share, group_id } }), 400)
})
