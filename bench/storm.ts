import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { AccessTokens } from '../server/src/accounts/sessions/access-token.ts'
import { loadSigningKeys } from '../server/src/accounts/sessions/signing-keys.ts'
import { insertUser, moveUserState } from '../server/src/store/users.ts'
import { startBerth, testTemplates, type Berth } from '../server/test/support/berth.ts'
import { milliseconds, report, timed } from './figures.ts'
import type { Answered, Storm } from './storm-client.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * Many users launch at the same moment: `npm run bench:storm [people] [parallel]`. Measures the time until all have
 * their container, each user's wait, and the event loop delay meanwhile. Then as many requests for one container.
 */
const people = Number(process.argv[2] ?? 1_000)
const parallel = process.argv[3]

await using lifetime = new BenchLifetime()
const berth = await startBerth(lifetime, {
  env: {
    CONTAINER_TEMPLATES: await testTemplates({ memory: '16m' }),
    ...(parallel === undefined ? {} : { LAUNCH_PARALLEL: parallel }),
  },
})
const tokens = await makePeople(berth, people)
const lag = monitorEventLoopDelay({ resolution: 10 })
lag.enable()
const { ms, value: answers } = await timed(() => storm({ port: berth.app.port, tokens }))
lag.disable()
const waits = answers.map((answer) => answer.ms).toSorted((a, b) => a - b)
const ok = answers.filter(({ status }) => status === 200).length
const running = (await berth.runtime.list()).filter(({ state }) => state === 'running').length
report(`${people} people at once${parallel === undefined ? '' : `, ${parallel} at a time`}`, {
  'answered 200': ok,
  'containers running': running,
  ...countsOf(answers.flatMap(({ error }) => error ?? [])),
  'launches a second': (ok / (ms / 1_000)).toFixed(1),
  'wait, median': milliseconds(at(waits, 0.5)),
  'wait, 99 of 100': milliseconds(at(waits, 0.99)),
  'event loop held up, longest (at most 200 ms)': milliseconds(lag.max / 1e6),
  'event loop held up, 99 of 100': milliseconds(lag.percentile(99) / 1e6),
})
await oneForAll(berth, tokens.at(-1) ?? '')

/** Users with a token, as if they had signed in; signing up would launch for them already. */
async function makePeople({ app, database, dataDir }: Berth, count: number): Promise<string[]> {
  let lastId = 0
  const tokens = new AccessTokens(await loadSigningKeys(dataDir), app.spawnerUrl, 86_400, () => `storm-${++lastId}`)
  const now = new Date()
  const users = await database.transaction(async (tx) => {
    const all = []
    for (let each = 0; each < count; each++) {
      const user = await insertUser(tx, { email: `p${each}@bench.test`, slug: `p${each}`, isAdmin: false, now })
      await moveUserState(tx, user.id, 'registered', 'verified')
      all.push(user)
    }
    return all
  })
  return Promise.all(users.map((user) => tokens.issue(user, tokens.plan(now))))
}

/** The same number of requests at once for one container that does not run. */
async function oneForAll({ app, runtime }: Berth, token: string): Promise<void> {
  await Promise.all((await runtime.list()).map(({ id }) => runtime.remove(id)))
  const { ms, value: answers } = await timed(() => storm({ port: app.port, tokens: Array(people).fill(token) }))
  report(`${people} requests at once for one container`, {
    'answered 200': answers.filter(({ status }) => status === 200).length,
    ...countsOf(answers.flatMap(({ error }) => error ?? [])),
    'containers on the engine': (await runtime.list()).length,
    'until the last answer': milliseconds(ms),
  })
}

async function storm(data: Storm): Promise<Answered[]> {
  const worker = new Worker(new URL('storm-client.ts', import.meta.url), { workerData: data })
  const [answers] = (await once(worker, 'message')) as [Answered[]]
  return answers
}

/** The number of occurrences of each sentence. */
function countsOf(sentences: readonly string[]): Record<string, number> {
  const groups = Object.groupBy(sentences, (sentence) => sentence.replaceAll(/\d+/g, 'N'))
  return Object.fromEntries(Object.entries(groups).map(([sentence, all]) => [sentence, all?.length ?? 0]))
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
