import { setTimeout as sleep } from 'node:timers/promises'
import { clusterImage, kubeconfig } from '../../server/test/support/cluster/cluster-api.ts'
import { onCluster } from '../../server/test/support/cluster/berth-on-cluster.ts'
import { shellApp } from '../../server/test/support/shell-app.ts'
import { severalNodes, type Node } from '../../server/test/support/several-nodes.ts'
import { startPostgres } from '../../server/test/support/store/postgres.ts'
import { waitFor } from '../../server/test/support/program.ts'
import { report } from '../figures.ts'
import { BenchLifetime } from '../lifetime.ts'

/**
 * `npm run bench:failover [rounds]`: two nodes on the cluster that `BERTH_TEST_CLUSTER` names, one of which is killed (kill -9 of both
 * processes) while requests run: the one that follows, which costs its gateway alone, and the one that leads. Requests go to the nodes
 * in turns, as through a load balancer; one that fails is sent once more, to the other node. All are to be answered.
 */
const rounds = Number(process.argv[2] ?? 2)
/** In ms: requests before and after the end of a node, pause of a client, and timeout of a request. */
const [before, after, pause, timeout] = [2_000, 12_000, 20, 20_000]

/** What happened to the requests of one kind. */
interface Load {
  sent: number
  retried: number
  /** Longest, with the second attempt, in ms. */
  slowest: number
  readonly failed: string[]
}

await using lifetime = new BenchLifetime()
let failures = 0
const postgres = await startPostgres()
lifetime.after(() => postgres.stop())
const { installation } = await onCluster(lifetime)
const app = {
  image: await clusterImage(),
  memory: '64m',
  home: null,
  command: ['/bin/sh', '-c', shellApp('$BERTH_EMAIL')],
}
const nodes = await severalNodes(
  lifetime,
  postgres,
  { dev: app, prod: app },
  {
    ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    KUBERNETES_NAMESPACE: installation,
  },
)
let [leader, follower] = [await nodes.start(), await nodes.start()]
const token = await nodes.signUp(leader, 'ann@x.org', follower)
await leader.ask('/api/container/launch/dev', token, { method: 'POST' })
for (let round = 0; round < rounds; round++) {
  await untilServed([leader, follower], token)
  await measure('the node that follows is killed', [leader, follower], follower, token)
  follower = await nodes.start()
  await untilServed([leader, follower], token)
  await measure('the node that leads is killed', [follower, leader], leader, token)
  ;[leader, follower] = [follower, await nodes.start()]
}
process.exitCode = failures > 0 ? 1 : 0

/** Both serve the container, and the API by themselves or by the other one. */
async function untilServed(nodes: readonly Node[], token: string): Promise<void> {
  for (const node of nodes)
    for (const target of ['/ann-dev/', '/api/user/sessions'])
      await waitFor(
        `${target} at ${node.address}`,
        async () => (await status(node, target, 'GET', token)) === 200,
        60_000,
      )
}

/** @param both the one that stays first */
async function measure(title: string, both: readonly Node[], killed: Node, token: string): Promise<void> {
  const stop = new AbortController()
  const kinds = {
    'page of a container': ['/ann-dev/', 'GET'],
    'reading request of the API': ['/api/user/me', 'GET'],
    'request that the leader answers': ['/api/user/sessions', 'GET'],
    'launch of what runs': ['/api/container/launch/dev', 'POST'],
  } as const
  const running = Object.entries(kinds).map(
    async ([kind, [target, method]]) => [kind, await load(stop.signal, both, target, method, token)] as const,
  )
  await sleep(before)
  const ended = performance.now()
  await killed.killAll()
  await waitFor(
    'the next leader',
    async () => (await status(both[0], '/api/user/sessions', 'GET', token)) === 200,
    60_000,
  )
  const back = performance.now() - ended
  await sleep(Math.max(0, after - back))
  stop.abort()
  const loads = await Promise.all(running)
  failures += loads.reduce((sum, [, { failed }]) => sum + failed.length, 0)
  report(title, {
    'until the leader answers at the other node': `${(back / 1_000).toFixed(1)} s`,
    ...Object.fromEntries(
      loads.map(([kind, { sent, retried, slowest, failed }]) => [
        kind,
        `${sent} requests, ${retried} sent once more, ${failed.length} not answered, slowest ${(slowest / 1_000).toFixed(1)} s ${failed.slice(0, 3).join('; ')}`,
      ]),
    ),
  })
}

/** One after the other until it is aborted. */
async function load(
  signal: AbortSignal,
  nodes: readonly Node[],
  target: string,
  method: string,
  token: string,
): Promise<Load> {
  const load: Load = { sent: 0, retried: 0, slowest: 0, failed: [] }
  for (let turn = 0; !signal.aborted; turn++, await sleep(pause)) {
    load.sent++
    const began = performance.now()
    const first = await status(nodes[turn % 2], target, method, token)
    const answer = first === 200 ? first : (load.retried++, await status(nodes[(turn + 1) % 2], target, method, token))
    load.slowest = Math.max(load.slowest, performance.now() - began)
    if (answer !== 200) load.failed.push(`${first}, then ${answer}`)
  }
  return load
}

/** @returns the error's name when there is no answer */
async function status(node: Node | undefined, target: string, method: string, token: string): Promise<number | string> {
  if (!node) return 'no node'
  try {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await node.fetch(target, undefined, { method, headers, signal: AbortSignal.timeout(timeout) })
    await answer.arrayBuffer()
    return answer.status
  } catch (error) {
    return String((error as Error).cause ?? error)
  }
}
