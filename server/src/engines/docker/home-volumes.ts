import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Home } from '#/engines/runtime.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { Coalescer } from '#/machine/single-flight.ts'
import { callTimeouts, isValidName, statusOf, type EngineClient } from './engine-client.ts'
import { isFolder, labelFilter, ownerFrom, probeFilter, probeLabels } from './labels.ts'

/** What is taken from the engine's answer. */
export interface Volume {
  readonly Name: string
  readonly Labels: Readonly<Record<string, string>> | null
  /** Where it is on the engine's host. */
  readonly Mountpoint?: string
  /** Options of its driver at creation, such as `size`. */
  readonly Options?: Readonly<Record<string, string>> | null
}

/** The engine that has the volumes, and whose of them are meant. */
interface Engine {
  readonly client: EngineClient
  readonly installation: string
}

/** Volumes that carry our labels and an owner's. */
export async function listHomes(engine: Engine, signal?: AbortSignal): Promise<(Home & { found: Volume })[]> {
  const homes: (Home & { found: Volume })[] = []
  await eachHome(engine, (home) => void homes.push(home), signal)
  return homes
}

/**
 * Homes of this installation. The engine goes through all of its volumes for one user as for all, so it makes one list at a time, and
 * calls that come meanwhile share the next one: each list has begun after it was asked for.
 */
export class HomeLists {
  readonly #engine: Engine
  /** Whose homes the next list is to have; undefined: all. */
  readonly #asked = new Set<number | undefined>()
  readonly #lists = new Coalescer(() => this.#list())

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Of one user, or all. @throws {RuntimeError} */
  async of(userId?: number): Promise<Home[]> {
    this.#asked.add(userId)
    const homes = await this.#lists.run('')
    return homes.filter(({ owner }) => userId === undefined || owner.userId === userId)
  }

  async #list(): Promise<Home[]> {
    const [first, ...others] = this.#asked
    this.#asked.clear()
    const homes: Home[] = []
    const take = ({ volume, owner }: Home) => void homes.push({ volume, owner })
    await eachHome(this.#engine, take, undefined, others.length === 0 ? first : undefined)
    return homes
  }
}

async function eachHome(
  engine: Engine,
  take: (home: Home & { found: Volume }) => void,
  signal?: AbortSignal,
  userId?: number,
) {
  const takeHome = (found: Volume) => {
    const owner = ownerFrom(found.Labels, engine.installation)
    if (owner) take({ volume: found.Name, owner, found })
  }
  await eachVolume(engine, takeHome, signal, userId)
}

/** Volumes that containers of several people have, beside homes. @throws {RuntimeError} */
export async function listHomesAndFolders(
  engine: Engine,
  signal?: AbortSignal,
  userId?: number,
): Promise<{ readonly homes: (Home & { found: Volume })[]; readonly folders: Volume[] }> {
  const homes: (Home & { found: Volume })[] = []
  const folders: Volume[] = []
  const take = (found: Volume) => {
    const owner = ownerFrom(found.Labels, engine.installation)
    if (owner) homes.push({ volume: found.Name, owner, found })
    else if (isFolder(found.Labels, engine.installation)) folders.push(found)
  }
  await eachVolume(engine, take, signal, userId)
  return { homes, folders }
}

/** One by one as they come: there is a home for every user who ever launched a container. */
async function eachVolume(engine: Engine, take: (found: Volume) => void, signal?: AbortSignal, userId?: number) {
  const query = { filters: JSON.stringify({ label: labelFilter(engine.installation, userId) }) }
  const call = {
    what: 'list volumes',
    method: 'GET',
    path: '/volumes',
    query,
    timeout: callTimeouts.list,
    signal,
  } as const
  await engine.client.each(call, (volumes: readonly Volume[]) => volumes.forEach(take), 2)
}

/**
 * Only what carries our labels. Names of volumes, unlike ids of containers, are given again: between the look and the
 * removal another volume could take its name, for a millisecond. The engine has no id to distinguish them.
 */
export async function removeHome(engine: Engine, volume: string): Promise<void> {
  if (await hasHome(engine, volume)) await removeVolume(engine.client, volume)
}

/** Whether there is a home of this name of this installation. @throws {RuntimeError} */
export async function hasHome({ client, installation }: Engine, volume: string): Promise<boolean> {
  if (!isValidName(volume)) return false
  const found = await findVolume(client, volume)
  return found?.Name === volume && ownerFrom(found.Labels, installation) !== null
}

/** The volume of this name; undefined when there is none. @throws {RuntimeError} */
export async function findVolume(client: EngineClient, name: string): Promise<Volume | undefined> {
  const [what, path] = [`inspect volume ${name}`, `/volumes/${encodeURIComponent(name)}`]
  try {
    return await client.ask<Volume>({ what, method: 'GET', path, timeout: callTimeouts.read })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Nothing to do when it is gone. @throws {RuntimeError} `conflict` when a container has it */
export async function removeVolume(client: EngineClient, name: string): Promise<void> {
  const [what, path] = [`remove volume ${name}`, `/volumes/${encodeURIComponent(name)}`]
  try {
    await client.ask({ what, method: 'DELETE', path, timeout: callTimeouts.remove })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

/** The words count, too: a proxy in between that knows no such path answers 404 as well. */
const isGone = (error: unknown) =>
  error instanceof RuntimeError && statusOf(error) === 404 && /no such volume/i.test(String(error.cause))

/** Polling interval while another measurement runs, in ms. */
const measureRetryInterval = 1_000
/** How long a file system may take to say how full it is, in ms. */
const statTimeout = 1_000
/**
 * How far the size that a file system tells of a bound volume may be from what was asked for, in bytes: it counts in
 * blocks.
 */
const sizeRounding = 64 * 1024

interface Measured extends Volume {
  /** Absent where it does not look; a size of -1 where it failed, as at a path that is longer than the kernel takes. */
  readonly UsageData?: { readonly Size: number } | null
}

/**
 * Bytes of all volumes by name; null where the engine cannot say. Engines before API 1.42 do not know `type`; they ignore
 * it and look at images and containers as well.
 * @throws {RuntimeError}
 */
export async function volumeSizes(
  { client }: Pick<Engine, 'client'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number | null>> {
  const [what, path, query] = ['measure volumes', '/system/df', { type: 'volume' }]
  const end = performance.now() + callTimeouts.measureHomes
  for (;;) {
    try {
      const timeout = Math.max(1, end - performance.now())
      const call = { what, method: 'GET', path, query, timeout, kind: 'stream', signal } as const
      const { Volumes } = await client.ask<{ Volumes: readonly Measured[] | null }>(call)
      return new Map(
        (Volumes ?? []).flatMap(({ Name, UsageData }) =>
          UsageData ? [[Name, UsageData.Size >= 0 ? UsageData.Size : null]] : [],
        ),
      )
    } catch (error) {
      if (!isAnotherMeasuring(error) || performance.now() > end) throw error
      await withSignal(sleep(measureRetryInterval), signal)
    }
  }
}

/** Docker 20.10 measures for one at a time and answers 500 to all others; later ones share what is under way. */
const isAnotherMeasuring = (error: unknown) =>
  error instanceof RuntimeError && /disk usage operation is already running/i.test(String(error.cause))

/**
 * The file system tells of a folder with a quota how much is left of that; of one without, how full the whole disk is.
 * @returns bytes; undefined when it has no quota, or cannot be seen from here
 */
export async function usedUnderQuota(isLocal: boolean, { Mountpoint, Options }: Volume): Promise<number | undefined> {
  const size = Number(Options?.size)
  if (!isLocal || !Mountpoint || !(size > 0)) return undefined
  try {
    const { bsize, blocks, bfree } = await withSignal(statfs(Mountpoint), AbortSignal.timeout(statTimeout))
    return Math.abs(blocks * bsize - size) <= sizeRounding ? (blocks - bfree) * bsize : undefined
  } catch {
    return undefined
  }
}

/** How long the engine's answer is good, in ms: an operator may mount its folder anew. */
const maxQuotaAge = 3_600_000

/** Options of a volume that cannot grow beyond so many bytes. */
export const quotaOptions = (bytes: number) => ({ Name: 'local', Options: { size: String(bytes) } })

/** Whether a volume was refused because the engine cannot bind the size of any. */
export const isWithoutQuotas = (error: unknown) =>
  error instanceof RuntimeError && /no quota support/i.test(String(error.cause))

/**
 * Whether the engine can bind the size of a volume: Docker's own driver can where its folder is on xfs or ext4 with
 * project quotas, and says "quota size requested but no quota support" elsewhere. Nothing but trying tells.
 */
export class HomeQuota {
  readonly #client: EngineClient
  readonly #installation: string
  #isSupported: Promise<boolean> | undefined
  #askedAt = 0

  constructor(client: EngineClient, installation: string) {
    this.#client = client
    this.#installation = installation
  }

  /** @throws {RuntimeError} `unreachable`, and asks again the next time */
  async isSupported(): Promise<boolean> {
    if (performance.now() - this.#askedAt > maxQuotaAge) this.#isSupported = undefined
    const answer = (this.#isSupported ??= this.#try())
    try {
      return await answer
    } catch (error) {
      if (this.#isSupported === answer) this.#isSupported = undefined
      throw error
    }
  }

  async #try(): Promise<boolean> {
    this.#askedAt = performance.now()
    const Name = `${this.#installation}-probe-${randomBytes(4).toString('hex')}`
    const { Name: Driver, Options: DriverOpts } = quotaOptions(1024 ** 2)
    const body = { Name, Driver, DriverOpts, Labels: probeLabels(this.#installation) }
    const call = { what: 'try to bind the size of a volume', method: 'POST', path: '/volumes/create' } as const
    try {
      await this.#client.ask({ ...call, body, timeout: callTimeouts.read })
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
      // Anything else may be better the next time: homes that are made meanwhile stay without a size for ever.
      if (!isWithoutQuotas(error)) this.#askedAt = -Infinity
      return false
    }
    await this.#cleanUp()
    return true
  }

  /** Those that a process left which died in between, too. */
  async #cleanUp(): Promise<void> {
    const query = { filters: JSON.stringify({ label: probeFilter(this.#installation) }) }
    const what = 'remove a volume that was tried'
    const { Volumes } = await this.#client.ask<{ Volumes: readonly Volume[] | null }>({
      what,
      method: 'GET',
      path: '/volumes',
      query,
      timeout: callTimeouts.read,
    })
    for (const { Name } of Volumes ?? [])
      // Another process of this installation was quicker.
      await removeVolume(this.#client, Name).catch(() => undefined)
  }
}
