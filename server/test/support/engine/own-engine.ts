import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { parseEngineAddress } from '#/engines/docker/engine-address.ts'
import type { Lifetime } from '../berth.ts'
import { endOrphanedStarts } from './orphaned-starts.ts'
import { askEngine, connectTo, engineAddress, testImage, type AskEngine } from './engine.ts'
import { waitLimit } from '../extent.ts'

/** As set-up starts the machine's engine: each program of an engine ends before it had to collect garbage. */
export const rareCollection = '400'

/** How long dockerd may take to answer, and to end, in ms; slow machines need most of it. */
const limits = { answer: waitLimit(60_000), end: waitLimit(90_000) }

/** An engine that belongs to one test, which may stop it, kill it and start it again; the machine's own goes on beside it. */
export interface OwnEngine {
  /** For `DOCKER_HOST`. */
  readonly address: string
  /** As `askEngine`, of this engine. */
  readonly ask: AskEngine
  /** Resolves when it answers. @throws with its last words when it does not */
  start(): Promise<void>
  /** In good order, as an operator does it: its containers are stopped first. */
  stop(): Promise<void>
  /** By SIGKILL. Programs go on for now; an engine that is started again ends them. */
  kill(): Promise<void>
}

interface OwnEngineOptions {
  /** A folder of programs that it finds before those of the system. */
  readonly programs?: string
  /** Further options of dockerd, by name. */
  readonly options?: Readonly<Record<string, string>>
}

/**
 * Starts a second dockerd, as root and with folders, network and containerd of its own, which has the image for tests.
 * It sets no rules of the host's firewall (they are the machine's engine's), so its containers reach each other. After the
 * test nothing is left of it. Takes 2 s where the machine has nothing else to do.
 */
export async function startOwnEngine(
  lifetime: Lifetime,
  { programs = '', options = {} }: OwnEngineOptions = {},
): Promise<OwnEngine> {
  const image = await testImage()
  // Short: paths of sockets have 107 characters at most, and containerd puts some behind this.
  const folder = mkdtempSync('/tmp/berth-dockerd-')
  const address = `unix://${folder}/docker.sock`
  const ask = connectTo(address)
  const bridge = await makeBridge(path.basename(folder))
  const daemon = new Daemon(folder, ask, bridge, { programs, options })
  lifetime.after(async () => {
    await cleanUp(daemon, ask)
    await askEngine('DELETE', `/networks/${bridge.network}`)
    // A killed one leaves these mounts: of its data, and of the file systems of its containers.
    for (const mount of mountsIn(folder)) spawnSync('umount', ['--lazy', mount])
    await rm(folder, { recursive: true, force: true })
  })
  await daemon.start()
  await copyImage(image, address)
  return {
    address,
    ask,
    start: () => daemon.start(),
    stop: () => daemon.end('SIGTERM'),
    kill: () => daemon.end('SIGKILL'),
  }
}

class Daemon {
  readonly #folder: string
  readonly #ask: AskEngine
  readonly #bridge: Bridge
  readonly #more: Required<OwnEngineOptions>
  #process: ChildProcess | undefined

  constructor(folder: string, ask: AskEngine, bridge: Bridge, more: Required<OwnEngineOptions>) {
    this.#folder = folder
    this.#ask = ask
    this.#bridge = bridge
    this.#more = more
  }

  get isRunning(): boolean {
    return this.#process !== undefined
  }

  async start(): Promise<void> {
    endOrphanedStarts(this.#folder)
    // After one that was killed the first start may fail over what else that left behind.
    if (!(await this.#startOnce()) && !(await this.#startOnce()))
      throw new Error(`dockerd did not start: ${this.#log()}`)
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const dockerd = this.#process
    this.#process = undefined
    if (!dockerd || hasEnded(dockerd)) return
    dockerd.kill(signal)
    const end = AbortSignal.timeout(limits.end)
    await once(dockerd, 'exit', { signal: end })
  }

  /** @returns false when it ended again */
  async #startOnce(): Promise<boolean> {
    // Of a dockerd that was killed: their numbers may be taken for living programs, containerd's for 15 s.
    for (const left of ['docker.pid', 'run/containerd/containerd.pid']) await rm(this.#at(left), { force: true })
    const dockerd = this.#launch()
    this.#process = dockerd
    const end = performance.now() + limits.answer
    while (!hasEnded(dockerd) && performance.now() < end) {
      if (await this.#answers()) return true
      await sleep(50)
    }
    await this.end('SIGKILL')
    return false
  }

  #launch(): ChildProcess {
    const log = openSync(this.#at('dockerd.log'), 'a')
    // It ends with the test that it belongs to, however that ends.
    const words = ['--pdeathsig', 'TERM', 'dockerd', ...this.#options()]
    const env = {
      GOGC: rareCollection,
      ...process.env,
      PATH: `${this.#more.programs}:${process.env.PATH}:/usr/sbin:/sbin`,
    }
    const dockerd = spawn('setpriv', words, { stdio: ['ignore', log, log], env })
    closeSync(log)
    return dockerd
  }

  #options(): string[] {
    return dockerdOptions(this.#folder, {
      bridge: this.#bridge.link,
      iptables: 'false',
      ip6tables: 'false',
      // In s. When it is over, containers are left as they are: on a busy machine a paused one was never ended.
      'shutdown-timeout': '60',
      ...this.#more.options,
    })
  }

  async #answers(): Promise<boolean> {
    return this.#ask('GET', '/info').then(
      () => true,
      () => false,
    )
  }

  #at(name: string): string {
    return path.join(this.#folder, name)
  }

  #log(): string {
    return readFileSync(this.#at('dockerd.log'), 'utf8').slice(-4_000)
  }
}

/**
 * Options of a dockerd beside the machine's own: its socket `docker.sock`, its data and its settings are in this folder,
 * where the settings file is written.
 * @param more by name
 */
export function dockerdOptions(folder: string, more: Readonly<Record<string, string>>): string[] {
  const at = (name: string) => path.join(folder, name)
  writeFileSync(at('daemon.json'), '{}')
  const options = {
    host: `unix://${at('docker.sock')}`,
    'data-root': at('data'),
    'exec-root': at('run'),
    pidfile: at('docker.pid'),
    'config-file': at('daemon.json'),
    'cgroup-parent': `/${path.basename(folder)}`,
    ...more,
  }
  return Object.entries(options).map(([name, value]) => `--${name}=${value}`)
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

interface Bridge {
  /** Name in the machine's engine. */
  readonly network: string
  /** Name of the host's interface. */
  readonly link: string
}

/**
 * A default bridge for a dockerd. It needs one, although nothing here uses it: with `bridge: none` it removes `docker0`,
 * which is the machine's engine's, and builds and containers without a network of their own fail there from then on. With
 * `default-address-pool` it does so, too, whenever it is started again (seen with 20.10); without, it looks for addresses
 * that no route of the host leads to, and so keeps out of the way of the machine's engine.
 */
async function makeBridge(name: string): Promise<Bridge> {
  const block = randomInt(64, 255)
  const link = `bt${randomInt(2 ** 40).toString(36)}`
  const body = {
    Name: name,
    Driver: 'bridge',
    Options: { 'com.docker.network.bridge.name': link },
    Labels: { 'berth.instance': `test-${name}` },
    IPAM: { Config: [{ Subnet: `10.${block}.255.0/24` }] },
  }
  await askEngine('POST', '/networks/create', { body })
  return { network: name, link }
}

/** The innermost first. */
function mountsIn(folder: string): string[] {
  const all = readFileSync('/proc/mounts', 'utf8').split('\n')
  return all
    .map((line) => line.split(' ')[1] ?? '')
    .filter((at) => at.startsWith(`${folder}/`))
    .toReversed()
}

/** Containers and networks outlive a dockerd: it has to take them away itself. */
async function cleanUp(daemon: Daemon, ask: AskEngine): Promise<void> {
  if (!daemon.isRunning) await daemon.start()
  const containers = await ask<{ Id: string }[]>('GET', '/containers/json', { query: { all: 'true' } })
  const query = { force: 'true', v: 'true' }
  await Promise.all(containers.map(({ Id }) => ask('DELETE', `/containers/${Id}`, { query }).catch(() => undefined)))
  await ask('POST', '/networks/prune')
  await daemon.end('SIGTERM')
}

/** From the machine's engine to another one, which has no way to build: a build needs a network. */
export async function copyImage(name: string, address: string): Promise<void> {
  const [from, to] = [engineAddress, address].map((each) => {
    const { origin, ...where } = parseEngineAddress(each)
    return new Pool(origin, where)
  }) as [Pool, Pool]
  try {
    const { body } = await from.request({ method: 'GET', path: `/images/${name}/get` })
    const loaded = await to.request({
      method: 'POST',
      path: '/images/load',
      query: { quiet: 'true' },
      headers: { 'content-type': 'application/x-tar' },
      body,
    })
    const text = await loaded.body.text()
    if (loaded.statusCode !== 200) throw new Error(`load ${name}: ${loaded.statusCode} ${text}`)
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}
