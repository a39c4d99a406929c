// Part of npm run test:more: a crowd; store-conflicts.test.ts and sign-up state the same of a few.
// Needs a process of its own: it works the process to its limits.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from '../support/berth-without-engine.ts'
import { extent, onlyLong, timeLimit, waitLimit } from '../support/extent.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { startPostgres } from '../support/store/postgres.ts'

/**
 * On PostgreSQL, where all requests share a few connections: many users sign up at once, while as many others work.
 * A sign-up used to hold a connection while it waited for one global lock, and at some 400 at once no other request got one.
 * `CROWD=500` is the whole of it, on a machine that has nothing else to do: then no sign-up is refused either.
 */
const crowd = Number(process.env.CROWD ?? extent(40, 150))
const isStrict = process.env.CROWD !== undefined
/** Those who work ask for something new after a pause of this length, in ms; then once more. */
const [pause, rounds] = [3_000, 2]

const postgres = await startPostgres()
// By default one network address may sign up 1,000 in an hour, and all of these come from one.
const env = { DATABASE_URL: postgres.url, REQUESTS_PER_MINUTE: '0', NEW_ADDRESSES_PER_HOUR: '1000000' }
const berth = await startEnginelessBerth({ after }, { env, runtime: new FakeEngine().runtime })
after(() => berth.close().then(() => postgres.stop()))

/** @returns their token */
async function settle(email: string): Promise<string> {
  const asked = await berth.call('POST', '/api/auth/signup', { body: { email } })
  assert.equal(asked.status, 200, asked.text)
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const { body, status, text } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  assert.equal(status, 200, text)
  return (body as { access_token: string }).access_token
}

const took: number[] = []
const failures: string[] = []
async function timed(method: string, path: string, options: Parameters<EnginelessBerth['call']>[2]): Promise<void> {
  const begun = performance.now()
  const { status, text } = await berth.call(method, path, options)
  took.push(performance.now() - begun)
  if (status !== 200) failures.push(`${method} ${path} ${status} ${text}`)
}

async function work(token: string): Promise<void> {
  await sleep(Math.random() * pause)
  for (let round = 0; round < rounds; round++) {
    await timed('GET', '/api/user/me', { token })
    await timed('GET', '/api/user/containers', { token })
    await timed('POST', '/api/container/launch/dev', { token })
    await sleep(pause)
  }
}

test("fifty administrators' changes that wait for a lock leave connections for other requests", async () => {
  const admin = await settle('admin@x.org')
  const person = await settle('person@x.org')
  await berth.database.db.updateTable('users').set({ is_admin: 1 }).where('email', '=', 'admin@x.org').execute()
  const { id } = await berth.database.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', 'person@x.org')
    .executeTakeFirstOrThrow()
  const held = Promise.withResolvers<void>()
  // As the command line's own process, in the middle of a long change.
  const holder = berth.database.transaction(async (tx) => {
    await berth.database.lock(tx, 'administrators')
    await held.promise
  })
  const changes = Array.from({ length: 50 }, () =>
    berth.call('POST', `/api/admin/users/${id}/promote`, { token: admin }),
  )
  await sleep(300)
  const begun = performance.now()
  for (let times = 0; times < 10; times++)
    assert.equal((await berth.call('GET', '/api/user/me', { token: person })).status, 200)
  const took = performance.now() - begun
  held.resolve()
  await holder
  for (const { status, text } of await Promise.all(changes)) assert.equal(status, 200, text)
  assert.ok(took < timeLimit(3_000), `${took} ms`)
})

const p99 = (times: number[]) => Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0)

test(
  'many sign up at once while as many work: no query of those times out',
  { timeout: waitLimit(300_000), ...(isStrict ? {} : onlyLong) },
  async (t) => {
    const tokens: string[] = []
    // A few at once: of 25 the queue of those who sign up refused some on a busy machine, as it does in the crowd itself.
    for (let at = 0; at < crowd; at += 5)
      tokens.push(...(await Promise.all(Array.from({ length: 5 }, (_, each) => settle(`works${at + each}@x.org`)))))
    const signUps: number[] = []
    let refused = 0
    const signUp = async (each: number) => {
      const begun = performance.now()
      const { status, text } = await berth.call('POST', '/api/auth/signup', { body: { email: `new${each}@x.org` } })
      signUps.push(performance.now() - begun)
      // On a slow machine the queue of those who sign up may be too long for some; they are refused.
      if (status === 503 && !isStrict) refused++
      else if (status !== 200) failures.push(`sign-up ${status} ${text}`)
    }
    t.diagnostic(`${crowd} people are there`)
    const cpu = process.cpuUsage()
    const begun = performance.now()
    const working = tokens.map(work)
    await sleep(pause)
    await Promise.all([...working, ...Array.from({ length: crowd }, (_, each) => signUp(each))])
    const used = process.cpuUsage(cpu)
    t.diagnostic(
      `CPU ${Math.round((used.user + used.system) / 1_000)} ms in ${Math.round(performance.now() - begun)} ms`,
    )
    const words = failures.slice(0, 3).join('\n')
    t.diagnostic(
      `p99 of ${took.length} requests beside: ${p99(took)} ms; of ${crowd} sign-ups: ${p99(signUps)} ms, ${refused} refused`,
    )
    assert.equal(failures.length, 0, `${failures.length} failed:\n${words}`)
    const { count } = await berth.database.db
      .selectFrom('users')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('email', 'like', 'new%')
      .executeTakeFirstOrThrow()
    assert.equal(Number(count), crowd - refused)
  },
)
