import { readFile, readdir } from 'node:fs/promises'
import { builtInPools, type AddressPool } from './bridge-network.ts'
import { callTimeouts, type EngineClient } from './engine-client.ts'
import type { HomeQuota } from './home-volumes.ts'
import type { StorageInfo } from './layer-limits.ts'

/** What a container may ask of its host; the engine refuses one that asks for more. */
export interface HostFacts {
  /** Name of the machine that the engine runs on. */
  readonly name: string
  /** Kind of machine, as `uname -m` names it. */
  readonly architecture: string
  readonly cores: number
  /** Bytes; Infinity when the engine does not say. */
  readonly memory: number
  /** Names of the ways to keep a container's output; Podman has none that is called `local`. */
  readonly logDrivers: readonly string[]
  readonly ociRuntimes: readonly string[]
  /** Whether it offers GPUs: by the runtime of NVIDIA, or by devices of CDI. */
  readonly hasGpus: boolean
  /** Where it keeps images, containers and volumes. */
  readonly rootDir: string
  /** How it keeps images and containers. */
  readonly storage: StorageInfo
  /** What new networks get their addresses from. */
  readonly addressPools: readonly AddressPool[]
  /** Whether a container can be given the usual number of open files. */
  readonly raisesOpenFiles: boolean
  /** Whether the size of a home can be bound. */
  readonly supportsHomeQuota: boolean
}

interface Info extends StorageInfo {
  readonly Name?: string
  readonly Architecture?: string
  readonly NCPU: number
  /** 0 when the engine cannot read it. */
  readonly MemTotal?: number
  readonly Plugins?: { readonly Log?: string[] | null }
  readonly Runtimes?: Readonly<Record<string, unknown>> | null
  readonly DockerRootDir?: string
  /** Since Docker 28.2. */
  readonly DiscoveredDevices?: readonly { readonly Source?: string; readonly ID?: string }[] | null
  /** Absent when the operator named none. */
  readonly DefaultAddressPools?: AddressPool[] | null
}

/** How long what the engine said is good, in ms: its settings change when an operator restarts it. */
const maxFactsAge = 300_000

/** Asks the engine now and then: `/info` takes longer than any other read. */
export class HostInfo {
  readonly #client: EngineClient
  readonly #isLocal: boolean
  readonly #homeSize: HomeQuota
  #facts: Promise<HostFacts> | undefined
  #askedAt = 0

  /** @param isLocal whether the engine runs on this machine */
  constructor(client: EngineClient, isLocal: boolean, homeSize: HomeQuota) {
    this.#client = client
    this.#isLocal = isLocal
    this.#homeSize = homeSize
  }

  /** Only the first who ask wait for the engine. @throws {RuntimeError} and asks again the next time */
  async facts(): Promise<HostFacts> {
    const facts = (this.#facts ??= this.#ask())
    if (performance.now() - this.#askedAt > maxFactsAge) this.#renew()
    try {
      return await facts
    } catch (error) {
      if (this.#facts === facts) this.#facts = undefined
      throw error
    }
  }

  /** Until the engine has answered, and when it does not, what it said before is good. */
  #renew(): void {
    const next = this.#ask()
    next.then(
      () => (this.#facts = next),
      () => undefined,
    )
  }

  async #ask(): Promise<HostFacts> {
    this.#askedAt = performance.now()
    const what = 'ask the engine about its host'
    const [info, opensMany, supportsHomeQuota] = await Promise.all([
      this.#client.ask<Info>({ what, method: 'GET', path: '/info', timeout: callTimeouts.read }),
      this.#isLocal && canRaiseOpenFiles(),
      this.#homeSize.isSupported(),
    ])
    const { NCPU, Plugins, Runtimes, DockerRootDir, DefaultAddressPools, DiscoveredDevices } = info
    const { Driver = '', DriverStatus = null } = info
    const ociRuntimes = Object.keys(Runtimes ?? {})
    return {
      name: info.Name ?? '',
      architecture: info.Architecture ?? '',
      cores: NCPU,
      memory: info.MemTotal || Infinity,
      logDrivers: Plugins?.Log ?? [],
      ociRuntimes,
      hasGpus: ociRuntimes.includes('nvidia') || (DiscoveredDevices ?? []).some(({ ID }) => /gpu/i.test(ID ?? '')),
      rootDir: DockerRootDir ?? '',
      storage: { Driver, DriverStatus },
      addressPools: DefaultAddressPools?.length ? DefaultAddressPools : builtInPools,
      raisesOpenFiles: opensMany,
      supportsHomeQuota,
    }
  }
}

/** Files that a container may have open: enough for what serves one person, and a stop to what leaks them. */
export const openFilesLimit = 65_536

/** Programs that start containers; what they may have is passed on. */
const starters = new Set(['dockerd', 'containerd'])

/**
 * Whether the engine of this machine can give a container `openFilesLimit`. A program without CAP_SYS_RESOURCE in the
 * machine's own namespace, as in some virtual machines and in rootless Docker, cannot give more than it has itself, and
 * every start would fail ("error setting rlimit type 7"). Containers without a limit get the engine's.
 * @param proc the kernel's process information; another folder in tests
 * @returns false, too, when no such program is seen
 */
export async function canRaiseOpenFiles(proc = '/proc'): Promise<boolean> {
  const pids = (await readdir(proc).catch(() => [])).filter((name) => /^\d+$/.test(name))
  const limits = await Promise.all(pids.map((pid) => hardLimit(`${proc}/${pid}`)))
  const known = limits.filter((limit) => limit !== undefined)
  return known.length > 0 && known.every((limit) => limit >= openFilesLimit)
}

/** Hard limit of a program that starts containers; undefined for any other, and for one that has ended meanwhile. */
async function hardLimit(folder: string): Promise<number | undefined> {
  try {
    if (!starters.has((await readFile(`${folder}/comm`, 'utf8')).trim())) return undefined
    const [, hard] = /^Max open files +\S+ +(\S+)/m.exec(await readFile(`${folder}/limits`, 'utf8')) ?? []
    return hard === 'unlimited' ? Infinity : Number(hard)
  } catch {
    return undefined
  }
}
