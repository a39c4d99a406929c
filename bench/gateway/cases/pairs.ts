import { compare, type Comparison, type Loading, type Sample } from '../measure.ts'
import type { Proxies, Target } from '../proxies.ts'
import type { Row } from '../table.ts'
import { residentSize } from '../usage.ts'
import type { Case } from './case.ts'
import { browserGets, downloads, echoes, sharedGets, smallGets, tlsUploads, uploads } from './loads.ts'

/** A row of CPU per unit, our gateway against a peer in turns. */
interface Pair {
  readonly name: string
  readonly title: string
  readonly load: Loading
  readonly peer: (proxies: Proxies) => Promise<Target>
  /** Another gateway of ours than the usual one. */
  readonly ours?: (proxies: Proxies) => Promise<Target>
  readonly peerName: string
  /** Max ratio that meets the goal; without one the row has no goal. */
  readonly goal?: number
  /** Whether the memory of both is shown: it must not grow with the transferred bytes. */
  readonly withMemory?: boolean
}

const get = { name: 'get', title: 'small GET', load: smallGets }
const down = { name: 'down', title: '1 MiB answer', load: downloads, withMemory: true }
const up = { name: 'up', title: '1 MiB post', load: uploads, withMemory: true }
const webSocket = { name: 'websocket', title: 'WebSocket echo, 64 B', load: echoes }
const heads = { name: 'heads', title: 'GET with a head of 1.5 KB', load: browserGets }
const plainHaproxy = { peerName: 'HAProxy, no check', peer: (proxies: Proxies) => proxies.haproxy('no check') }
const nginx = { peerName: 'nginx, 10 upstreams', peer: (proxies: Proxies) => proxies.nginx() }
const tls = {
  name: 'tls',
  peerName: 'nginx with TLS',
  ours: (proxies: Proxies) => proxies.oursWithTls(),
  peer: (proxies: Proxies) => proxies.nginxWithTls(),
}
const chp = { peerName: 'configurable-http-proxy', peer: (proxies: Proxies) => proxies.chp() }

const pairs: readonly Pair[] = [
  { ...get, ...nginx, goal: 1.1 },
  { ...get, ...nginx, name: 'shared', title: 'small GET, connections shared by people', load: sharedGets },
  { ...get, peerName: 'HAProxy, HS256 check', peer: (proxies) => proxies.haproxy('HS256'), goal: 1.05 },
  { ...get, peerName: 'HAProxy, ES256 check', peer: (proxies) => proxies.haproxy('ES256'), goal: 1.05 },
  { ...get, ...plainHaproxy },
  { ...get, ...chp, goal: 0.14 },
  { ...get, peerName: 'nginx, 10,000 upstreams', peer: (proxies) => proxies.nginxWithAll(), goal: 0.4 },
  { ...get, peerName: 'Caddy, 10 routes', peer: (proxies) => proxies.caddy() },
  { ...get, name: 'floor', peerName: 'a bare relay on node:net', peer: (proxies) => proxies.relay() },
  { ...down, ...plainHaproxy, goal: 1.1 },
  { ...up, ...plainHaproxy, goal: 1.1 },
  { ...webSocket, ...plainHaproxy, goal: 1.3 },
  { ...webSocket, ...chp, goal: 0.8 },
  { ...heads, ...nginx, goal: 1.2 },
  { ...get, title: 'TLS: small GET', ...tls, goal: 1.4 },
  { ...down, title: 'TLS: 1 MiB answer', ...tls, withMemory: false, goal: 1.5 },
  { ...up, title: 'TLS: 1 MiB post', load: tlsUploads, ...tls, withMemory: false, goal: 1.5 },
  { ...get, name: 'routes', peerName: 'ours with 10 routes', peer: (proxies) => proxies.ours(10), goal: 1.05 },
]

export const pairCases: readonly Case[] = pairs.map((pair) => ({
  name: pair.name,
  run: (proxies, rounds) => runPair(pair, proxies, rounds),
  profile: async (proxies) => void (await pair.load(await (pair.ours?.(proxies) ?? proxies.ours()), 10)),
}))

async function runPair(pair: Pair, proxies: Proxies, rounds: number): Promise<Row[]> {
  const [ours, peer] = [await (pair.ours?.(proxies) ?? proxies.ours()), await pair.peer(proxies)]
  if (!pair.withMemory) return [rowOf(pair, await compare(ours, peer, pair.load, rounds))]
  // One run first, so that buffers are allocated before both measured moments.
  await compare(ours, peer, pair.load, 1)
  const before = [ours, peer].map(({ pid }) => residentSize(pid))
  const comparison = await compare(ours, peer, pair.load, rounds)
  const after = [ours, peer].map(({ pid }) => residentSize(pid))
  return [rowOf(pair, comparison), memoryRow(pair, before, after)]
}

function rowOf({ title, peerName, goal }: Pair, { ours, peer, ratio }: Comparison): Row {
  return {
    title: `${title}, against ${peerName}`,
    ours: `${ours.cpu.toFixed(1)} us`,
    peer: `${peer.cpu.toFixed(1)} us`,
    ratio,
    ...(goal === undefined ? {} : { goal: `at most ${goal}`, isMet: ratio <= goal }),
    note: `${rate(ours)}; peer ${rate(peer)}`,
  }
}

const rate = ({ perSecond, busy }: Sample) =>
  `${Math.round(perSecond).toLocaleString('en')} (${Math.round(busy * 100)} %)`

/** Space for the young generation of the heap, whose size depends on the load and not on the transferred bytes. */
const growthAllowed = 32 * 1024

function memoryRow({ title }: Pair, before: readonly number[], after: readonly number[]): Row {
  const [ours = '', peer = ''] = before.map(
    (kilobytes, index) => `${megabytes(kilobytes)} -> ${megabytes(after[index] ?? 0)} MB`,
  )
  const isMet = (after[0] ?? Infinity) - (before[0] ?? 0) <= growthAllowed
  return { title: `${title}, memory before and after`, ours, peer, goal: 'flat (+32 MB)', isMet }
}

const megabytes = (kilobytes: number) => (kilobytes / 1024).toFixed(0)
