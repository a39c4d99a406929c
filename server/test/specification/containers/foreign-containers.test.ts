import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { openDockerEngine } from '../../support/engine/runtimes.ts'

const berth = await startBerth({ after })

test('a container that has the name but another owner is neither used nor touched: launch is 500', async (t) => {
  const rig = await openDockerEngine()
  t.after(() => rig.close())
  const person = await berth.signUpWithoutContainer('ann@x.org')
  const name = `${berth.installation}-${person.slug}-prod`
  const stranger = await rig.run('x', { name, owner: { userId: person.id, slug: person.slug, type: 'prod' } })
  assertRefused(await person.call('POST', '/api/container/launch/prod'), 500, ['reason'])
  assert.equal((await rig.runtime.inspectId(stranger.id))?.state, 'running')
  assert.equal((await person.call('GET', '/ann-prod/')).status, 503)
  await rig.runtime.remove(stranger.id)
  assertOk(await person.call('POST', '/api/container/launch/prod'))
})

test('a running container of the same name and owner is reused after its id was lost', async () => {
  const person = await berth.signUp('ben@x.org')
  await berth.database.db.updateTable('user_containers').set({ container_id: null }).execute()
  const reply = await person.call('POST', '/api/container/launch/dev')
  assertOk(reply)
  assert.equal(reply.body.container_id, person.auth.user.container_id)
})
