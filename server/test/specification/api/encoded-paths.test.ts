import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

/** A filter in front of Berth that looks for `/api` in addresses did not see `/%61pi/user/me`, which the API answered. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const ann = await berth.signUp('ann@x.org')
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
