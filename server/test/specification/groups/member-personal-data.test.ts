import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { startGroupBerth } from '#test/support/group-berth.ts'

const { engine, signUp, group } = await startGroupBerth({ after })
const [ann, ben, tom] = [await signUp('ann@x.org'), await signUp('ben@x.org'), await signUp('tom@x.org')]

/** A start was not in the export of who was started, and a stop or block did not say of which container. */
test('the export of a member has what a manager did to their containers, and nothing of those of others', async () => {
  const { id } = await group({ name: 'Class', types: ['lab'] }, [ann, ben], [tom])
  assertOk(await tom.call('POST', `/api/groups/${id}/start`, { container_type: 'lab' }))
  await pollUntil(
    () => [ann, ben].every((each) => engine.running.includes(`lab of ${each.id}`)),
    () => engine.running.join(),
  )
  const actions = ['stop', 'block', 'unblock']
  for (const action of actions) assertOk(await tom.call('POST', `/api/groups/${id}/${action}`))
  const done = ['group.start', ...actions.map((action) => `group.${action}`)]
  const entriesOf = async (user: typeof ann) => {
    const reply = await user.call('GET', '/api/user/data')
    assertOk(reply)
    const entries = reply.body.audit_entries as { action: string; is_own: boolean; detail: object }[]
    return entries.filter(({ action }) => done.includes(action))
  }
  for (const member of [ann, ben])
    assert.deepEqual(
      (await entriesOf(member)).map(({ action, is_own, detail }) => ({ action, is_own, detail })),
      done.map((action) => ({ action, is_own: false, detail: { containers: [{ user: member.id, type: 'lab' }] } })),
    )
  // What the manager did is no fact about members in the export of the manager.
  assert.deepEqual(
    (await entriesOf(tom)).map(({ is_own, detail }) => ({ is_own, detail })),
    done.map(() => ({ is_own: true, detail: { address: '127.0.0.1' } })),
  )
})
