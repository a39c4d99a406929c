import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, recordOf } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { waitFor } from '#test/support/program.ts'
import { get } from '#test/support/gateway/raw-client.ts'

const berth = await startBerth({ after }, { env: { MAGIC_LINK_RATE_LIMIT: '2' } })
const admin = await berth.administrator()
const ann = await berth.signUp('ann@x.org')

const printLink = (email: string) => berth.operate('POST', '/api/operator/links', { body: { email } })
const verify = (link: string) => berth.call('GET', `/api/auth/verify-${/verify-(\w+\?.*)/.exec(link)?.[1]}`)

async function lastEntry(): Promise<{ actor_email: string; action: string; target: string }> {
  const query = berth.database.db.selectFrom('audit_log').select(['actor_email', 'action', 'target'])
  return { ...(await query.orderBy('id', 'desc').executeTakeFirstOrThrow()) }
}

test('a printed link signs its person in, takes no place of the hour, is audited, and stands in no log', async () => {
  for (let n = 0; n < 3; n++) {
    const printed = await printLink(' ANN@x.org ')
    assertOk(printed)
    assert.equal(printed.body.purpose, 'login')
    assert.ok(new Date(printed.body.expires_at) > new Date())
    const verified = await verify(printed.body.link)
    assertOk(verified)
    assert.equal(verified.body.user.id, ann.id)
    const [, token = ''] = printed.body.link.split('token=')
    assert.ok(token.length > 20 && !berth.logs.join('').includes(token))
  }
  assertOk(await berth.call('POST', '/api/auth/login', { body: { email: 'ann@x.org' } }))
  assert.deepEqual(await lastEntry(), { actor_email: 'operator root', action: 'link.print', target: `user:${ann.id}` })
})

test('an unverified user gets a signup link, a blocked user 403, an unknown address 404', async () => {
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email: 'new@x.org' } }))
  const printed = await printLink('new@x.org')
  assert.equal(printed.body.purpose, 'signup')
  const verified = await verify(printed.body.link)
  assertOk(verified)
  assertOk(await berth.operate('POST', `/api/admin/users/${verified.body.user.id}/block`))
  assertRefused(await printLink('new@x.org'), 403)
  assertRefused(await printLink('nobody@x.org'), 404)
  assertRefused(await printLink(''), 400)
})

test('a container that the operator stops counts as stopped, not as crashed, and starts again when its owner comes', async () => {
  const { id } = await recordOf(admin, ann.id)
  await waitFor('it answers', async () => (await ann.call('GET', `/${ann.slug}-dev/`)).status === 200)
  const stopped = await berth.operate('POST', `/api/admin/containers/${id}/stop`)
  assertOk(stopped)
  assert.match(stopped.body.message, /is stopped/)
  assert.deepEqual(await lastEntry(), {
    actor_email: 'operator root',
    action: 'container.stop',
    target: `container:${id}`,
  })
  const logged = await admin.call('GET', '/api/admin/audit?action=container.stop&limit=1')
  assert.deepEqual(logged.body.entries[0].detail, { user: ann.id, type: 'dev', address: 'command line' }, logged.text)
  const listed = await ann.call('GET', '/api/user/containers')
  const dev = listed.body.containers.find((each: { type: string }) => each.type === 'dev')
  assert.equal(dev.status, 'exited', listed.text)
  const again = await berth.operate('POST', `/api/admin/containers/${id}/stop`)
  assert.match(again.body.message, /does not run/)
  const headers = { authorization: `Bearer ${ann.token}`, accept: 'text/html' }
  // A start that takes long shows its progress first, with 503.
  const open = async () => (await get(berth.app.port, `/${ann.slug}-dev/`, { headers })).status === 200
  await waitFor('it runs again', open)
  assertRefused(await berth.operate('POST', '/api/admin/containers/999/stop'), 404)
  assertRefused(await berth.operate('POST', '/api/admin/containers/x/stop'), 404)
})
