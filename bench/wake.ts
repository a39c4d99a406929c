import { setTimeout as sleep } from 'node:timers/promises'
import { startBerth, type Berth, type Person } from '../server/test/support/berth.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { recipeOf, removeDirectly } from './engine-direct.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { addressOf, askApp, firstByte } from './first-byte.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * Time to the first byte of a sleeping container, through the gateway and from the bare engine in turns: `npm run
 * bench:wake [rounds]`. The bare engine's is a container of the same specification that Berth does not know.
 */
const rounds = Number(process.argv[2] ?? 20)
/** Time in ms for Berth to receive events, and for the engine to settle. */
const settleTime = 400
/** A program that ends by itself within 10 s of its start counts as one that crashes, and is not started again at once; in ms. */
const minRunTime = 10_500

type Suspension = 'paused' | 'stopped'

/** How containers are put to sleep, and the engine's call that wakes them. */
const verbs = {
  paused: { begin: 'pause', end: 'unpause' },
  stopped: { begin: 'stop?t=1', end: 'start' },
} as const

await using lifetime = new BenchLifetime()
const berth = await startBerth(lifetime)
const person = await berth.signUp('waker@bench.test')
const ours = await launch(person)
const unmanaged = await startUnmanaged(berth, ours)
lifetime.after(() => removeDirectly(unmanaged))
const viaGateway = () => firstByte('127.0.0.1', berth.app.port, `/${person.slug}-prod/`, person.token)
await compare('paused', 10, ours, unmanaged, viaGateway)
await compare('stopped', 50, ours, unmanaged, viaGateway)

/** @param allowed ms on top of the engine's own */
async function compare(
  suspension: Suspension,
  allowed: number,
  ours: string,
  unmanaged: string,
  viaGateway: () => Promise<string>,
) {
  const through: number[] = []
  const direct: number[] = []
  const wakeDirectly = async () => {
    await askEngine('POST', `/containers/${unmanaged}/${verbs[suspension].end}`)
    return askApp(await addressOf(unmanaged))
  }
  for (let round = 0; round < rounds; round++) {
    const turns = [
      async () => {
        if (suspension === 'stopped') await sleep(minRunTime)
        await measure(through, ours, suspension, viaGateway)
      },
      () => measure(direct, unmanaged, suspension, wakeDirectly),
    ]
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn()
  }
  const difference = median(through) - median(direct)
  report(`first byte from a ${suspension} container`, {
    rounds,
    'through the gateway, median': milliseconds(median(through)),
    'engine alone, median': milliseconds(median(direct)),
    [`difference (at most ${allowed} ms)`]: milliseconds(difference),
  })
}

/** The first line of the response shows that the app sent it, and not the gateway, whose page would be 503. */
async function measure(into: number[], id: string, suspension: Suspension, wake: () => Promise<string>): Promise<void> {
  await askEngine('POST', `/containers/${id}/${verbs[suspension].begin}`)
  await sleep(settleTime)
  const { ms, value } = await timed(wake)
  if (!value.startsWith('HTTP/1.1 200 ')) throw new Error(`a ${suspension} container answered ${value}`)
  into.push(ms)
  await sleep(settleTime)
}

async function launch(person: Person): Promise<string> {
  const { status, text, body } = await person.call('POST', '/api/container/launch/prod')
  if (status !== 200) throw new Error(`launch answered ${status}: ${text}`)
  return (body as { container_id: string }).container_id
}

/** Without labels Berth does not manage it, and ignores its events. */
async function startUnmanaged({ installation }: Berth, like: string): Promise<string> {
  const name = `${installation}-unmanaged`
  const recipe = { ...(await recipeOf(like))(name), Labels: {} }
  const { Id } = await askEngine<{ Id: string }>('POST', `/containers/create?name=${name}`, { body: recipe })
  await askEngine('POST', `/containers/${Id}/start`)
  return Id
}
