import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { severalNodes, type Node } from '../../server/test/support/several-nodes.ts'
import { startPostgres } from '../../server/test/support/store/postgres.ts'
import { waitFor } from '../../server/test/support/program.ts'
import { median, report } from '../figures.ts'
import { preciseCpuTime } from '../gateway/usage.ts'
import { LoadClient } from './load.ts'
import { targets as targetsWith, turnOf, type Target } from './mix.ts'
import { BenchLifetime } from '../lifetime.ts'

/**
 * API requests for the CPU of one and of two nodes: `npm run bench:nodes [turns] [rounds]`. Rounds with all requests at the
 * leader, and with half of them at each node, alternate in one run. PostgreSQL, the engine and the load share the machine, so
 * that requests per second say little of a node with a core of its own, although each node is bound to one: what is measured is
 * the CPU time (user and system) of the two processes of each node, and the throughput of nodes with one core each is requests
 * by the CPU time of the node that used most. When both nodes work, they share caches and cores, and a request takes more CPU
 * than when one does: so the costs of each kind of request are measured with one node asked at a time, too, and the throughput
 * is derived from these. The target is 1.8.
 */
const turns = Number(process.argv[2] ?? 20)
const rounds = Number(process.argv[3] ?? 5)
/** Of each kind of request, at each node in turns: the first one runs code that is not compiled yet. */
const costRounds = 3
/** As many clients for each node that is asked, so that each is as busy: a node that waits takes more CPU for a request. */
const [users, clientsOfNode] = [16, 8]
const webDir = path.resolve(import.meta.dirname, '../../web/dist')

await using lifetime = new BenchLifetime()
const postgres = await startPostgres()
lifetime.after(() => postgres.stop())
const nodes = await severalNodes(lifetime, postgres, {}, { SHARING: 'people' })
const leader = await nodes.start()
const follower = await nodes.start()
for (const [index, node] of [leader, follower].entries()) pin(node, index % availableParallelism())
const boss = await nodes.signUp(leader, 'boss@x.org')
const tokens: string[] = []
for (let each = 0; each < users; each++) tokens.push(await nodes.signUp(leader, `user${each}@x.org`))
await waitFor(
  'the last container',
  async () => {
    const { status } = await leader.ask<{ status: string }>('/api/container/status', tokens.at(-1))
    return status === 'running'
  },
  120_000,
)
const targets = targetsWith(
  `/assets/${readdirSync(path.join(webDir, 'assets')).find((name) => /^index.*\.js$/.test(name))}`,
)
await measure([leader, follower], targets, boss, tokens)

async function measure(both: readonly Node[], targets: readonly Target[], boss: string, tokens: readonly string[]) {
  const turn = turnOf(targets)
  const run = (nodes: readonly Node[], length = turns) =>
    load(both, nodes, Array.from({ length }, () => turn).flat(), boss, tokens)
  // Code that runs for the first time is slow.
  for (const nodes of [both.slice(0, 1), both.slice(1), both]) await run(nodes)
  const [one, two]: [Measured[], Measured[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    one.push(await run(both.slice(0, 1)))
    two.push(await run(both))
  }
  show('one node, with all requests', one)
  show('two nodes, with half of the requests each', two)
  const ratio = median(two.map(throughput)) / median(one.map(throughput))
  report('throughput of two nodes', { 'of that of one, at the same CPU each': ratio.toFixed(2), target: '1.8' })
  const costs = new Map<Target, Cost>()
  for (const target of targets) {
    const cost = async (nodes: readonly Node[]): Promise<Both> => {
      const requests = Array.from({ length: turns * 10 }, () => target)
      const { cpu, requests: count } = await load(both, nodes, requests, boss, tokens)
      return [((cpu[0] ?? 0) * 1_000) / count, ((cpu[1] ?? 0) * 1_000) / count]
    }
    const [atLeader, atFollower]: [Both[], Both[]] = [[], []]
    for (let round = 0; round < costRounds; round++) {
      atLeader.push(await cost(both.slice(0, 1)))
      atFollower.push(await cost(both.slice(1)))
    }
    const each = { atLeader: medians(atLeader), atFollower: medians(atFollower) }
    const show = (both: Both) => both.map(Math.round).join(' + ')
    report(`${target.method ?? 'GET'} ${target.path}`, {
      'CPU in µs (leader + follower), asked at the leader': show(each.atLeader),
      'asked at the follower': show(each.atFollower),
    })
    costs.set(target, each)
  }
  for (const mix of ['reads', 'days'] as const) {
    const equal = derive(mix, costs, 0.5)
    const share = bestShare(mix, costs)
    report(`mix "${mix}": throughput of two nodes, by the cost of each request while one node is asked`, {
      'of that of one, half of the requests at each node': equal.toFixed(2),
      [`with ${Math.round(share * 100)} % at the leader, so that both use the same CPU`]: derive(
        mix,
        costs,
        share,
      ).toFixed(2),
      target: '1.8',
    })
    // What the leader alone answers costs more than a quarter of the other mix, which no division of reads makes up for.
    if (mix === 'reads' && equal < 1.8) process.exitCode = 1
  }
}

function medians(all: readonly Both[]): Both {
  return [median(all.map(([leader]) => leader)), median(all.map(([, follower]) => follower))]
}

/** CPU of a request in µs. */
type Both = readonly [leader: number, follower: number]
interface Cost {
  readonly atLeader: Both
  readonly atFollower: Both
}

/**
 * Throughput of two nodes with the same CPU each, in that of one node: the CPU of one node for a hundred requests of the mix,
 * by the CPU of the busier one of two nodes for these. @param share of the requests that the leader is asked
 */
function derive(mix: 'reads' | 'days', costs: ReadonlyMap<Target, Cost>, share: number): number {
  const all = [...costs].map(([target, cost]) => ({ weight: target[mix], ...cost }))
  const one = sum(all.map(({ weight, atLeader }) => weight * atLeader[0]))
  const of = (node: 0 | 1) =>
    sum(
      all.map(({ weight, atLeader, atFollower }) => weight * (share * atLeader[node] + (1 - share) * atFollower[node])),
    )
  return one / Math.max(of(0), of(1))
}

/** The share, in whole percent, with which two nodes answer most. */
function bestShare(mix: 'reads' | 'days', costs: ReadonlyMap<Target, Cost>): number {
  const shares = Array.from({ length: 51 }, (_, percent) => percent / 100)
  return shares.reduce((best, share) => (derive(mix, costs, share) > derive(mix, costs, best) ? share : best), 0.5)
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0)
}

interface Measured {
  readonly requests: number
  readonly seconds: number
  /** Of each node, in ms. */
  readonly cpu: readonly number[]
}

/** Requests per second of CPU of the node that used most. */
function throughput({ requests, cpu }: Measured): number {
  return (requests / Math.max(...cpu)) * 1_000
}

/** @param asked nodes that take turns in being asked */
async function load(
  both: readonly Node[],
  asked: readonly Node[],
  requests: readonly Target[],
  boss: string,
  tokens: readonly string[],
): Promise<Measured> {
  const ports = asked.map(portOf)
  const before = both.map(cpuOf)
  const began = performance.now()
  let next = 0
  const work = async () => {
    const client = new LoadClient()
    for (let at = next++; at < requests.length; at = next++) {
      const { path: target, isAdmin, method = 'GET', isStream = false } = requests[at] as Target
      const token = isAdmin ? boss : (tokens[at % tokens.length] as string)
      // By the turn, and not by the request: otherwise each node would get its own kinds of requests.
      const port = ports[(at + Math.floor(at / 100)) % ports.length] as number
      await client.ask({ port, path: target, token, method, isStream })
    }
    client.close()
  }
  await Promise.all(Array.from({ length: clientsOfNode * asked.length }, work))
  const cpu = both.map((node, index) => cpuOf(node) - (before[index] ?? 0))
  return { requests: requests.length, seconds: (performance.now() - began) / 1_000, cpu }
}

/** Both processes of a node run on one core, as all that it may use; whatever else runs here is not bound. */
function pin(node: Node, core: number): void {
  for (const pid of [node.process.pid, node.api()]) execFileSync('taskset', ['-a', '-p', '-c', `${core}`, `${pid}`])
}

/** CPU time of its processes, in ms: the gateway process and its child. */
function cpuOf(node: Node): number {
  return preciseCpuTime(node.process.pid as number) / 1_000
}

function portOf(node: Node): number {
  return Number(/listening on 127\.0\.0\.1:(\d+)/.exec(node.output())?.[1])
}

function show(title: string, all: readonly Measured[]): void {
  const of = (figure: (each: Measured) => number) => median(all.map(figure))
  report(title, {
    'requests per second of CPU of the busier node': of(throughput).toFixed(0),
    'CPU per request in µs, leader': (of(({ cpu, requests }) => (cpu[0] ?? 0) / requests) * 1_000).toFixed(0),
    'CPU per request in µs, follower': (of(({ cpu, requests }) => (cpu[1] ?? 0) / requests) * 1_000).toFixed(0),
    'requests per second on this machine': of(({ requests, seconds }) => requests / seconds).toFixed(0),
  })
}
