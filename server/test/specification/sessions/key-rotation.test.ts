import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { assertOk, assertRefused, logIn, until } from '../../support/api-calls.ts'
import { startBerth, type Berth, type BerthOptions, type Lifetime } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { openStream } from '../../support/event-stream.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'
import { onlyLong } from '#test/support/extent.ts'

const start = (lifetime: Lifetime, options: BerthOptions = {}) =>
  startBerth(lifetime, { wrapRuntime: (runtime) => noCreateRuntime(runtime), ...options })
const berth = await start({ after }, { env: { MAGIC_LINK_RATE_LIMIT: '100' } })
const ann = await berth.signUp('ann@x.org')
const rotation = '/api/operator/keys/rotate'

const rotate = (of = berth) => of.operate('POST', rotation)
const kidsOf = async (of: Berth): Promise<string[]> =>
  (await of.call('GET', '/api/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid)
/** Those that tokens can be of: all but the second, which will sign next. */
const usedOf = async (of: Berth): Promise<string[]> => (await kidsOf(of)).toSpliced(1, 1)
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const keyFile = ({ dataDir }: Berth) => path.join(dataDir, 'signing-key.json')

/** Accepted by the API and by the gateway, which has nothing to show. */
async function assertGood(of: Berth, token: string): Promise<void> {
  assertOk(await of.call('GET', '/api/user/me', { token }))
  assert.notEqual((await of.call('GET', '/ann-dev/', { token })).status, 401)
}

test('a new key signs from now on; tokens of the old one stay good, and both are published', async () => {
  const before = kidOf(ann.token)
  const [, announced] = await kidsOf(berth)
  const reply = await rotate()
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), ['message', 'kid', 'retired'])
  assert.notEqual(reply.body.kid, before)
  assert.equal(reply.body.kid, announced)
  assert.equal(reply.body.retired[0].kid, before)
  const left = Date.parse(reply.body.retired[0].until) - Date.now()
  assert.ok(left > 3_600_000 && left < 3_700_000, `accepted for ${left} ms`)
  const { access_token: token } = (await logIn(berth, 'ann@x.org')).body
  assert.equal(kidOf(token), reply.body.kid)
  for (const each of [token, ann.token]) await assertGood(berth, each)
  assert.deepEqual(await usedOf(berth), [reply.body.kid, before])
})

test('nothing that is open is cut by it, and pages that are open keep their proof', async () => {
  const stream = await openStream(berth, ann.token)
  await until(async () => stream.events.length > 0)
  const document = {
    cookie: `spawner_token=${ann.token}`,
    accept: 'text/html',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  const proof = async () => /"csrf":"([^"]+)"/.exec((await rawCall(berth, 'GET', '/', document)).text)?.[1]
  const before = await proof()
  assertOk(await rotate())
  assert.equal(await proof(), before)
  assert.ok(before)
  const count = stream.events.length
  assertOk(await berth.operate('POST', `/api/admin/users/${ann.id}/takeover`, { body: { reason: 'to be heard of' } }))
  await until(async () => stream.events.length > count)
  stream.close()
})

test('it is in the audit log, and only the operator may', async () => {
  const { body } = await rotate()
  const query = berth.database.db.selectFrom('audit_log').selectAll().where('target', '=', `key:${body.kid}`)
  const [entry, ...more] = await query.execute()
  assert.deepEqual([more.length, entry?.action, entry?.actor_email], [0, 'keys.rotate', 'operator root'])
  assertRefused(await ann.call('POST', rotation), 404)
})

// Apps get the keys once. When the new one was only made by the rotation, each that ran on refused its own user.
test('containers know the new key already before the rotation, and need no other when an old one is dropped', async (t) => {
  const made: Record<string, string>[] = []
  const noting = (runtime: Runtime): Runtime => ({
    ...noCreateRuntime(runtime),
    create: async (spec, options) => {
      made.push({ jwks: spec.env['BERTH_JWKS'] ?? '', fingerprint: spec.fingerprint })
      return noCreateRuntime(runtime).create(spec, options)
    },
  })
  const own = await start(t, { wrapRuntime: noting, pace: { every: 100 } })
  const person = await own.signUp('ann@x.org')
  const { kid } = (await rotate(own)).body
  await person.call('POST', '/api/container/launch/dev')
  await withTime(async (pass) => {
    pass(3_700_000)
    await until(async () => (await usedOf(own)).length === 1)
    const { access_token: token } = (await logIn(own, 'ann@x.org')).body
    await own.call('POST', '/api/container/launch/dev', { token })
  })
  const old = kidOf(person.token) ?? ''
  const [first, second, third] = [made[0], made.at(1), made.at(-1)]
  assert.ok(first && second && third)
  const known = made.map(({ jwks = '' }) => [old, kid].filter((each) => jwks.includes(each)).length)
  assert.deepEqual([known[0], known[1], known.at(-1)], [2, 2, 1])
  assert.notEqual(first['fingerprint'], second['fingerprint'])
  assert.equal(third['fingerprint'], second['fingerprint'])
})

test('the old key is dropped everywhere once its last token has expired, and no earlier', async (t) => {
  const env = { JWT_ACCESS_TOKEN_EXPIRES: '60', MAGIC_LINK_RATE_LIMIT: '100' }
  const own = await start(t, { env, pace: { every: 100 } })
  const person = await own.signUp('ann@x.org')
  const { kid, retired } = (await rotate(own)).body
  // An app's token lives longer than that of its user, here.
  assert.ok(Date.parse(retired[0].until) - Date.now() > 900_000)
  await withTime(async (pass) => {
    pass(900_000)
    await own.call('GET', '/healthz')
    assert.deepEqual(await usedOf(own), [kid, kidOf(person.token)])
    pass(70_000)
    await until(async () => (await usedOf(own)).length === 1)
  })
  assert.deepEqual(await usedOf(own), [kid])
  assert.deepEqual(JSON.parse(await readFile(keyFile(own), 'utf8')).retired, [])
})

test('after a restart the new key signs, and the old tokens are still good; the file is for its owner alone', async (t) => {
  const first = await start(t)
  const person = await first.signUp('ann@x.org')
  const { kid } = (await rotate(first)).body
  await first.close()
  assert.equal((await stat(keyFile(first))).mode & 0o777, 0o600)
  const { dataDir, installation } = first
  const second = await start(t, { dataDir, installation })
  await assertGood(second, person.token)
  assert.equal(kidOf((await logIn(second, 'ann@x.org')).body.access_token), kid)
})

test('after ten rotations in a row it is 409: each key that is accepted is in the environment of every container', async (t) => {
  const own = await start(t)
  for (let n = 0; n < 10; n += 1) assertOk(await rotate(own))
  assertRefused(await rotate(own), 409)
})

test(
  'wherever a process is killed while it rotates, what it leaves signs and accepts all that were announced',
  onlyLong,
  async (t) => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-keys-'))
    t.after(() => rm(dataDir, { recursive: true, force: true }))
    const program = path.join(dataDir, 'rotate.ts')
    const module = path.resolve(import.meta.dirname, '../../../src/accounts/sessions/signing-keys.ts')
    // Says each key when others would be told of it, and drops those before the last three.
    await writeFile(
      program,
      `const { loadSigningKeys } = await import(${JSON.stringify(module)})
     const keys = await loadSigningKeys(${JSON.stringify(dataDir)})
     console.log(keys.kid)
     for (let at = Date.now(); ; at += 1) {
       let planned
       const onPlanned = async ({ kid }) => { planned = kid }
       await keys.rotate(new Date(at), { onPlanned, onAccepted: async () => console.log(planned) })
       if (keys.retired.length > 5) await keys.dropExpired(new Date(at - 3))
     }`,
    )
    for (let round = 0; round < 6; round += 1) {
      const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
      const said: string[] = []
      child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(...text.trim().split('\n')))
      await until(async () => said.length > 8 + round)
      child.kill('SIGKILL')
      await once(child, 'close')
      const keys = await loadSigningKeys(dataDir)
      const accepted = [keys.kid, ...keys.retired.map(({ kid }) => kid)]
      for (const kid of said.slice(-2)) assert.ok(accepted.includes(kid), `round ${round}`)
      assert.deepEqual(
        (await readdir(dataDir)).filter((name) => name.startsWith('signing-key')),
        ['signing-key.json'],
      )
    }
  },
)

test('a rotation that others could not be told of leaves the old key signing, after a restart, too', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-keys-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const keys = await loadSigningKeys(dataDir)
  const [{ kid }, secret] = [keys, keys.secretFor('x')]
  const steps = { onPlanned: async () => {}, onAccepted: () => Promise.reject(new Error('no server listens')) }
  await assert.rejects(keys.rotate(new Date(Date.now() + 60_000), steps), /no server listens/)
  assert.equal(keys.kid, kid)
  assert.deepEqual(keys.retired, [])
  const later = await loadSigningKeys(dataDir)
  // As one that was replaced it would be refused soon, with everything that it signs until that restart.
  assert.deepEqual([later.kid, later.retired], [kid, []])
  assert.deepEqual(later.secretFor('x'), secret)
})

test('a key file of an earlier Berth gets a next key, signs on with its own, and keeps its secrets', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-keys-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const file = path.join(dataDir, 'signing-key.json')
  const first = await loadSigningKeys(dataDir)
  const { kty, crv, x, y, d } = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>
  await writeFile(file, JSON.stringify({ kty, crv, x, y, d }))
  const upgraded = await loadSigningKeys(dataDir)
  const again = await loadSigningKeys(dataDir)
  assert.equal(upgraded.kid, first.kid)
  assert.deepEqual(upgraded.secretFor('x'), first.secretFor('x'))
  assert.deepEqual(again.jwks, upgraded.jwks, 'what is announced once stays announced')
  assert.equal(again.jwks.keys.length, 2)
})
