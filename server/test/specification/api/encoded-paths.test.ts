import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

/** A filter in front of Berth that looks for `/api` in addresses did not see `/%61pi/user/me`, which the API answered. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const ann = await berth.signUpWithoutContainer('ann@x.org')
const authorization = `Bearer ${ann.token}`

test('an address of the API counts as it is spelled: with an encoded letter it is an unknown one', async () => {
  assertOk(await ann.call('GET', '/api/user/me'))
  const unknown = await rawCall(berth, 'GET', '/unknown/user/me', { authorization })
  for (const path of ['/%61pi/user/me', '/api/%75ser/me', '/ap%69/user/%6de', '/api/user/me%3f', '/%61pi/unknown']) {
    const reply = await rawCall(berth, 'GET', path, { authorization })
    assert.deepEqual([path, reply.status], [path, unknown.status])
    assert.deepEqual(Object.keys(JSON.parse(reply.text) as object), ['error'])
  }
})

test('so does a page, an asset and what operators ask', async () => {
  const accept = 'text/html'
  for (const path of ['/%6cogin', '/l%6Fgin?next=/', '/%61ssets/x', '/health%7a', '/%6detrics'])
    assert.equal((await rawCall(berth, 'GET', path, { accept })).status, 404, path)
  assert.equal((await rawCall(berth, 'GET', '/login?next=%2Fann-dev%2F', { accept })).status, 200)
})

test('what an address names may be encoded: a type is one', async () => {
  const launch = (type: string) => berth.call('POST', `/api/container/launch/${type}`, { token: ann.token })
  assertRefused(await launch('d%65v%2f'), 400)
  assert.equal((await launch('d%65v')).status, (await launch('dev')).status)
})

test('an id may not: with an encoded digit it is none, after the refusals that come before', async () => {
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  const encoded = (id: number) => [...String(id)].map((digit) => `%3${digit}`).join('')
  const user = `/api/admin/users/${encoded(bob.id)}`
  for (const [method, path] of [
    ['POST', `${user}/block`],
    ['POST', `${user}/block?x=1`],
    ['DELETE', user],
    ['POST', '/api/admin/containers/%31/block'],
    ['GET', '/api/groups/%31/members'],
    ['DELETE', '/api/user/sessions/%31'],
  ] as const) {
    assertRefused(await ann.call(method, path), 404)
    assertRefused(await berth.call(method, path), 401)
  }
  assertRefused(await bob.call('POST', `${user}/block`), 403)
  const { body } = await ann.call('GET', '/api/admin/users?q=bob')
  assert.deepEqual([body.users.length, body.users[0].is_blocked], [1, false])
  assertOk(await ann.call('POST', `/api/admin/users/${bob.id}/block?x=%31`))
})

test('nor may the second id of an address', async () => {
  const made = await ann.call('POST', '/api/admin/groups', { body: { name: 'Physics' } })
  const members = `/api/groups/${made.body.group.id}/members`
  assertOk(await ann.call('POST', members, { body: { emails: ['ann@x.org'], role: 'member' } }))
  assertRefused(await ann.call('DELETE', `${members}/%3${ann.id}`), 404)
  assertOk(await ann.call('DELETE', `${members}/${ann.id}`))
})
