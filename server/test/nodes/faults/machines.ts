import { execFile, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Lifetime } from '../../support/berth.ts'
import { exposePort } from '../../support/expose-port.ts'

const path = `${process.env.PATH}:/usr/sbin:/sbin`
const run = async (program: string, ...words: string[]) =>
  (await promisify(execFile)(program, words, { env: { PATH: path } })).stdout

/** Machines as far as their network goes: namespaces on one bridge, whose cables can be cut. */
export interface Machines {
  /** Address of this process on the bridge. */
  readonly here: string
  /** Makes a machine. @param number last byte of its address @returns the address */
  add(name: string, number: number): Promise<string>
  /** An address that is no machine's own. */
  address(number: number): string
  /** Gives a machine an address more, and tells all others by ARP. */
  take(name: string, address: string): Promise<void>
  spawn(name: string, program: string, words: readonly string[], options?: SpawnOptions): ChildProcess
  run(name: string, program: string, ...words: string[]): Promise<string>
  /** What a machine sends from these addresses reaches another one no more; connections stay open, and nothing is answered. */
  deafen(name: string, ...addresses: string[]): Promise<void>
  /** Ends what `deafen` has done there. */
  heal(name: string): Promise<void>
  /** Whatever is told by ARP: for this machine an address is that of another one. @returns what ends it */
  pin(name: string, address: string, other: string): Promise<() => Promise<void>>
  /** Its cable is out, or in again. */
  plug(name: string, isIn: boolean): Promise<void>
  /** Serves on the bridge what listens on the loopback of this process. @returns the address, with the port */
  expose(port: number): Promise<string>
}

/** A chain of the firewall of a machine, for `deafen`. */
const chain = 'BERTH-TEST'

/** Needs root. Nothing is left of it after the test. @throws when namespaces cannot be made */
export async function openMachines(lifetime: Lifetime): Promise<Machines> {
  const tag = `bn${randomInt(36 ** 5).toString(36)}`
  const subnet = `10.253.${randomInt(256)}`
  const namespaces: string[] = []
  const space = (name: string) => `${tag}-${name}`
  // Not "ip netns exec", which mounts another /sys, without cgroups.
  const within = (name: string) => `--net=/run/netns/${space(name)}`
  const address = (number: number) => `${subnet}.${number}`
  const make = async (name: string) => {
    await run('ip', 'netns', 'add', space(name))
    namespaces.push(space(name))
    await run('ip', '-n', space(name), 'link', 'set', 'lo', 'up')
  }
  const inside = (name: string, program: string, ...words: string[]) => run('nsenter', within(name), program, ...words)
  lifetime.after(async () => {
    // Cables go with them.
    for (const each of namespaces) await run('ip', 'netns', 'delete', each).catch(() => undefined)
  })
  await make('bridge')
  await run('ip', '-n', space('bridge'), 'link', 'add', 'br0', 'type', 'bridge')
  await run('ip', '-n', space('bridge'), 'link', 'set', 'br0', 'up')
  const plugIn = async (end: string) => {
    await run('ip', '-n', space('bridge'), 'link', 'set', end, 'master', 'br0')
    await run('ip', '-n', space('bridge'), 'link', 'set', end, 'up')
  }
  await run('ip', 'link', 'add', tag, 'type', 'veth', 'peer', 'name', 'outside', 'netns', space('bridge'))
  await plugIn('outside')
  const here = address(254)
  await run('ip', 'address', 'add', `${here}/24`, 'dev', tag)
  await run('ip', 'link', 'set', tag, 'up')
  return {
    here,
    address,
    add: async (name, number) => {
      await make(name)
      const far = ['peer', 'name', name, 'netns', space('bridge')]
      await run('ip', '-n', space(name), 'link', 'add', 'eth0', 'type', 'veth', ...far)
      await plugIn(name)
      await run('ip', '-n', space(name), 'address', 'add', `${address(number)}/24`, 'dev', 'eth0')
      await run('ip', '-n', space(name), 'link', 'set', 'eth0', 'up')
      await inside(name, 'iptables', '-w', '-N', chain)
      await inside(name, 'iptables', '-w', '-I', 'INPUT', '-j', chain)
      return address(number)
    },
    take: async (name, moving) => {
      await run('ip', '-n', space(name), 'address', 'add', `${moving}/24`, 'dev', 'eth0')
      await inside(name, 'busybox', 'arping', '-U', '-c', '2', '-I', 'eth0', moving).catch(() => undefined)
    },
    spawn: (name, program, words, options = {}) =>
      spawn('nsenter', [within(name), program, ...words], {
        ...options,
        env: { PATH: path, ...options.env },
      }),
    run: inside,
    deafen: async (name, ...addresses) => {
      for (const each of addresses) await inside(name, 'iptables', '-w', '-A', chain, '-s', each, '-j', 'DROP')
    },
    heal: async (name) => void (await inside(name, 'iptables', '-w', '-F', chain)),
    pin: async (name, pinned, other) => {
      const link = await run('ip', '-n', space(other), '-o', 'link', 'show', 'eth0')
      const mac = /link\/ether (\S+)/.exec(link)?.[1]
      if (mac === undefined) throw new Error(`${other} has no cable: ${link}`)
      const entry = [pinned, 'lladdr', mac, 'dev', 'eth0']
      await run('ip', '-n', space(name), 'neigh', 'replace', ...entry, 'nud', 'permanent')
      return async () => void (await run('ip', '-n', space(name), 'neigh', 'delete', ...entry))
    },
    plug: async (name, isIn) => void (await run('ip', '-n', space(name), 'link', 'set', 'eth0', isIn ? 'up' : 'down')),
    expose: (port) => exposePort(lifetime, here, port),
  }
}
