import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { startBerth, type Person } from './support/berth.ts'
import { envPath, envTemplates } from './support/engine/env-app.ts'

/** People of one Berth visit each other's containers, as `access: public` lets them: what each app receives, through the real whole. */
const berth = await startBerth({ after }, { env: { CONTAINER_TEMPLATES: await envTemplates() } })
const [bob, eve] = [await berth.signUp('bob@x.org'), await berth.signUp('eve@x.org')]

async function received(person: Person, headers: Record<string, string>): Promise<string> {
  const reply = await berth.call('GET', `/${person.slug}-dev/${envPath}`, { headers })
  assert.equal(reply.status, 200)
  return reply.text
}

const tokenIn = (text: string) => /spawner_token=([\w.-]+)/.exec(text)?.[1] ?? ''

test('the token that an app receives names its container, for every visitor', async () => {
  for (const visitor of [bob, eve]) {
    const token = tokenIn(await received(bob, { cookie: `spawner_token=${visitor.token}` }))
    const { aud, sub } = decodeJwt(token)
    assert.deepEqual([aud, sub], ['/bob-dev', String(visitor.id)])
  }
})

test("what one's own app has received opens nothing in another's, by cookie or by header", async () => {
  const token = tokenIn(await received(eve, { cookie: `spawner_token=${eve.token}` }))
  assert.equal(decodeJwt(token).aud, '/eve-dev')
  for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: `spawner_token=${token}` }])
    assert.ok(!(await received(bob, headers)).includes(token.slice(-40)))
})
