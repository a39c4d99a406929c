import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

/** A content type decides nothing; the framework answered 415 to one that is no media type. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const ann = await berth.signUpWithoutContainer('ann@x.org')

const noMediaTypes = [
  'json',
  'text',
  '',
  ' ',
  'application/json, text/plain',
  'application/',
  '/',
  'a b/c',
  ';charset=x',
]

test('a body is JSON or refused with 400 when its content type is no media type', async () => {
  for (const type of noMediaTypes) {
    const send = (body: string) => rawCall(berth, 'POST', '/api/auth/login', { 'content-type': type }, body)
    const accepted = await send(JSON.stringify({ email: 'unknown@x.org' }))
    assert.deepEqual([type, accepted.status], [type, 200])
    for (const body of ['', '{', 'email=unknown@x.org']) {
      const refused = await send(body)
      assert.deepEqual([type, body, refused.status], [type, body, 400])
      assert.deepEqual(Object.keys(JSON.parse(refused.text) as object), ['error'])
    }
  }
})

test('an endpoint without a body, and an unknown address, ignore it', async () => {
  for (const type of noMediaTypes) {
    const headers = { authorization: `Bearer ${ann.token}`, 'content-type': type }
    for (const body of ['', 'x']) {
      const launch = await rawCall(berth, 'POST', '/api/container/launch/unknown', headers, body)
      assert.deepEqual([type, body, launch.status], [type, body, 400])
      const unknown = await rawCall(berth, 'POST', '/api/none', headers, body)
      assert.deepEqual([type, body, unknown.status], [type, body, 404])
    }
  }
})

test('a page of a browser without the CSRF token changes nothing, whatever content type it sends', async () => {
  for (const type of [...noMediaTypes, 'text/plain', 'application/json', undefined]) {
    for (const site of ['cross-site', 'same-site', 'same-origin', 'none']) {
      const sent = { cookie: `spawner_token=${ann.token}`, 'sec-fetch-site': site }
      const headers = type === undefined ? sent : { ...sent, 'content-type': type }
      const { status } = await rawCall(berth, 'POST', '/api/user/tokens', headers, '{"name":"x","scopes":[]}')
      assert.deepEqual([type, site, status], [type, site, 403])
    }
  }
})
