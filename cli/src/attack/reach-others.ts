import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount } from '#/formatting.ts'
import type { Loot, Outcome } from './attack-attempt.ts'
import type { AttackInstallation } from './attack-installation.ts'

/** Connections that a hostile container tries. */

interface Target {
  readonly host: string
  readonly port: number
}

/** Max containers and addresses that are tried. */
const [maxNeighbours, maxAddresses] = [40, 12]

const nameOf = ({ host, port }: Target) => `${host}:${port}`
const hostRulesFix = 'set the rules of the host: docs/how-to/set-host-rules.md; then: berth doctor attack'

/** Other containers, on its own network and on all others of the engine. */
export async function reachNeighbours(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const neighbours = (await installation.neighbours()).slice(0, maxNeighbours)
  const targets = neighbours.map(({ address, port }) => ({ host: address, port }))
  const answering = await tryHere(targets)
  if (!answering.some(Boolean)) throw new Error('no other container answers this machine, so nothing can be compared')
  const reached = await tryThere(installation, targets, signal)
  return {
    got: lootOf(
      reached,
      (names) => `It reached other containers (${names}): a user can attack the applications of others.`,
    ),
    tried: formatCount(targets.length, 'other container'),
  }
}

/** Services of the host, at each of its addresses: one that is opened for this, Berth, the engine's ports, SSH. */
export async function reachHost(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const service = createServer((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\n')).listen(0, '0.0.0.0')
  await once(service, 'listening', { signal })
  try {
    const opened = (service.address() as AddressInfo).port
    const { routes } = await installation.order<{ routes: string }>({ verb: 'describe' }, signal)
    const hosts = [...new Set([...gatewaysIn(routes), ...ownAddresses()])].slice(0, maxAddresses)
    const ports = [opened, installation.config.port || 8080, 2375, 2376, 22]
    const targets = hosts.flatMap((host) => ports.map((port) => ({ host, port })))
    const reached = await tryThere(installation, targets, signal)
    const what = (names: string) => `It reached services of this host (${names}), and so whatever listens here.`
    return { got: lootOf(reached, what), tried: `${hosts.length} addresses of the host, ${ports.length} ports each` }
  } finally {
    service.close()
  }
}

/** Where clouds tell a machine its secrets. */
const metadata: readonly Target[] = [
  { host: '169.254.169.254', port: 80 },
  { host: '169.254.170.2', port: 80 },
  { host: 'fd00:ec2::254', port: 80 },
]

/** Addresses of the cloud's metadata service. */
export async function reachMetadata(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const reached = await tryThere(installation, metadata, signal)
  const what = (names: string) =>
    `It reached the metadata service of the cloud (${names}), which may tell it keys of the machine.`
  return { got: lootOf(reached, what), tried: metadata.map(({ host }) => host).join(', ') }
}

function lootOf(reached: readonly Target[], what: (names: string) => string): Loot[] {
  if (reached.length === 0) return []
  const names = reached.slice(0, 4).map(nameOf).join(', ')
  return [{ level: 'critical', what: what(reached.length > 4 ? `${names}, ...` : names), fix: hostRulesFix }]
}

async function tryThere(
  installation: AttackInstallation,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<Target[]> {
  const answers = await installation.order<(string | null)[]>({ verb: 'connect', targets }, signal)
  return targets.filter((_, at) => answers[at] !== null)
}

/** Whether each takes a connection from this machine. */
const tryHere = (targets: readonly Target[]) =>
  Promise.all(
    targets.map(async ({ host, port }) => {
      const socket = connect(port, host)
      const isMade = await Promise.race([
        once(socket, 'connect').then(
          () => true,
          () => false,
        ),
        sleep(1_500, false, { ref: false }),
      ])
      socket.destroy()
      return isMade
    }),
  )

/** Gateways in `/proc/net/route`: hexadecimal, in the byte order of the machine, which is little-endian. */
const gatewaysIn = (routes: string) =>
  [...routes.matchAll(/^\S+\s+00000000\s+([0-9A-F]{8})/gm)].map(([, hex = '']) =>
    [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.'),
  )

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).flatMap(({ family, address, internal }) => (family === 'IPv4' && !internal ? address : [])),
  )
}
