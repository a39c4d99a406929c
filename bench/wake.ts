import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBerth, type Berth, type Person } from '../server/test/support/berth.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { recipeOf, removeDirectly } from './engine-direct.ts'
import { median, milliseconds, report, timed } from './figures.ts'

/**
 * The first byte from a container that rests, through the gateway and from the bare engine in turns:
 * `npm run bench:wake [rounds]`. The bare engine's is a container of the same recipe that Berth knows nothing about.
 */
const rounds = Number(process.argv[2] ?? 20)
/** Time for Berth to hear of what happened behind its back, and for the engine to calm down, in ms. */
const settling = 400
/** How long an app may take to listen after its start, in ms. */
const listenLimit = 10_000

type Rest = 'paused' | 'stopped'

/** How each rest begins, and what the engine is told to end it. */
const verbs = {
  paused: { begin: 'pause', end: 'unpause' },
  stopped: { begin: 'stop?t=1', end: 'start' },
} as const

const endings: (() => unknown)[] = []
const berth = await startBerth({ after: (ending) => void endings.unshift(ending) })
try {
  const person = await berth.signUp('waker@bench.test')
  const ours = await launch(person)
  const stranger = await startStranger(berth, ours)
  endings.unshift(() => removeDirectly(stranger))
  const viaGateway = () => firstByte('127.0.0.1', berth.app.port, `/${person.slug}-prod/`, person.token)
  await compare('paused', 10, ours, stranger, viaGateway)
  await compare('stopped', 50, ours, stranger, viaGateway)
} finally {
  for (const ending of endings) await ending()
}

/** @param allowed ms on top of the engine's own */
async function compare(rest: Rest, allowed: number, ours: string, stranger: string, viaGateway: () => Promise<string>) {
  const through: number[] = []
  const direct: number[] = []
  const wakeDirectly = async () => {
    await askEngine('POST', `/containers/${stranger}/${verbs[rest].end}`)
    return askAt(await addressOf(stranger))
  }
  for (let round = 0; round < rounds; round++) {
    const turns = [() => measure(through, ours, rest, viaGateway), () => measure(direct, stranger, rest, wakeDirectly)]
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn()
  }
  const difference = median(through) - median(direct)
  report(`first byte from a ${rest} container`, {
    rounds,
    'through the gateway, median': milliseconds(median(through)),
    'engine alone, median': milliseconds(median(direct)),
    [`difference (at most ${allowed} ms)`]: milliseconds(difference),
  })
}

/** The answer's first line shows that it was the app and not a page of Berth's, which would be 503. */
async function measure(into: number[], id: string, rest: Rest, wake: () => Promise<string>): Promise<void> {
  await askEngine('POST', `/containers/${id}/${verbs[rest].begin}`)
  await sleep(settling)
  const { ms, value } = await timed(wake)
  if (!value.startsWith('HTTP/1.1 200 ')) throw new Error(`a ${rest} container answered ${value}`)
  into.push(ms)
  await sleep(settling)
}

async function launch(person: Person): Promise<string> {
  const { status, text, body } = await person.call('POST', '/api/container/launch/prod')
  if (status !== 200) throw new Error(`launch answered ${status}: ${text}`)
  return (body as { container_id: string }).container_id
}

/** Without labels Berth leaves it alone, and does not look at it when the engine tells its events. */
async function startStranger({ installation }: Berth, like: string): Promise<string> {
  const name = `${installation}-stranger`
  const recipe = { ...(await recipeOf(like))(name), Labels: {} }
  const { Id } = await askEngine<{ Id: string }>('POST', `/containers/create?name=${name}`, { body: recipe })
  await askEngine('POST', `/containers/${Id}/start`)
  return Id
}

/** The engine gives a container another address at each start, so whoever wants its first byte has to ask. */
async function addressOf(id: string): Promise<string> {
  const { NetworkSettings } = await askEngine<{ NetworkSettings: { Networks: Record<string, { IPAddress: string }> } }>(
    'GET',
    `/containers/${id}/json`,
  )
  return Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? ''
}

/** Asks until the app listens. @throws {Error} the last refusal, after `listenLimit` */
async function askAt(host: string): Promise<string> {
  const end = performance.now() + listenLimit
  for (;;) {
    try {
      return await firstByte(host, 8080, '/')
    } catch (error) {
      if (performance.now() > end) throw error
      await sleep(1)
    }
  }
}

/** On a connection of its own, as somebody who comes back has none. @returns the beginning of the answer */
async function firstByte(host: string, port: number, path: string, token = ''): Promise<string> {
  const socket = connect({ host, port, noDelay: true })
  socket.setTimeout(60_000, () => socket.destroy(new Error('no answer within a minute')))
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}:${port}`, `Authorization: Bearer ${token}`, 'Connection: close']
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  for await (const bytes of socket) return (bytes as Buffer).toString('latin1', 0, 60)
  throw new Error(`${host} ended the connection without an answer`)
}
