import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startEnginelessBerth, type EnginelessBerth } from '#test/support/berth-without-engine.ts'
import { groupTemplates, startGroupBerth, type Signed } from '#test/support/group-berth.ts'
import { FakeEngine } from '#test/support/engine/fake-engine.ts'
import { faultyStore } from '#test/support/store/faulty-store.ts'

const { dev } = groupTemplates
const env = { CONTAINER_TEMPLATES: JSON.stringify({ dev }) }
const terms = () => ({ emails: ['ben@x.org'], may: 'use', expires_at: new Date(Date.now() + 3_600_000).toISOString() })
const share = (owner: Signed) => owner.call('POST', '/api/container/shares/dev', terms())

test('by default nothing is shared, the store is not asked for shares, and pages have no word of them', async (t) => {
  const asked: string[] = []
  const note = (query: string) => {
    asked.push(query)
    return false
  }
  const { berth, signUp, launch } = await startGroupBerth(
    { after: (work) => t.after(work) },
    { env, wrapDatabase: (database) => faultyStore(database, { fails: note }), pace: { every: 100 } },
  )
  const ann = await signUp('ann@x.org')
  assertOk(await launch(ann))
  assertRefused(await share(ann), 403)
  assert.deepEqual((await ann.call('GET', '/api/user/shared')).body, { containers: [] })
  await berth.call('GET', '/ann-prod/', { token: ann.token })
  assert.deepEqual(
    asked.filter((query) => query.includes('container_shares')),
    [],
  )
  const page = await berth.call('GET', '/', { headers: { cookie: `spawner_token=${ann.token}`, accept: 'text/html' } })
  assert.match(page.text, /"sharing":null/)
})

test('shares from before open nothing after sharing was switched off', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-sharing-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const lifetime = { after: (work: () => Promise<void>) => t.after(work) }
  const { runtime } = new FakeEngine()
  const on = await startGroupBerth(lifetime, { env: { ...env, SHARING: 'people' }, dataDir, runtime })
  const [ann, ben] = [await on.signUp('ann@x.org'), await on.signUp('ben@x.org')]
  assertOk(await on.launch(ann))
  assertOk(await ann.call('POST', '/api/container/stop/dev'))
  assertOk(await share(ann))
  const statusAt = async ({ call }: EnginelessBerth) => (await call('GET', '/ann-dev/', { token: ben.token })).status
  assert.notEqual(await statusAt(on.berth), 403)
  await on.berth.close()
  const off = await startEnginelessBerth(lifetime, { env, dataDir, runtime })
  assert.equal(await statusAt(off), 403)
})
