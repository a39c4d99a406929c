import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { containerToolFolder, containerToolName } from '#/engines/container-tool.ts'
import { oneEntry } from '#/engines/tar/archive-rewrite.ts'
import { withSignal, withTimeout } from '#/machine/try-or-log.ts'
import { callTimeouts, statusOf, type EngineClient } from './engine-client.ts'
import type { Helper, HelperContainers } from './helper-containers.ts'
import { removeVolume } from './home-volumes.ts'
import { toolFilter, toolLabels } from './labels.ts'

/** How long containers are made without the tool after it could not be put into its volume, in ms. */
const retryDelay = 30_000
/**
 * How long a container waits for the tool to be in its volume, in ms; afterwards it is made without it. The first one after a start of Berth
 * waits for some seconds on a busy machine.
 */
const volumeTimeout = 10_000

/** What the engine says of a kind of machine (`uname -m`), and Node. */
const architectures: ReadonlyMap<string, string> = new Map([
  ['x86_64', 'x64'],
  ['aarch64', 'arm64'],
])

/** The engine that the tool is put into. */
interface ToolEngine {
  readonly client: EngineClient
  readonly installation: string
  readonly helpers: HelperContainers
}

/**
 * The container tool in a volume of the engine, which every container mounts read-only. A volume, because a folder of this machine
 * could not be mounted where Berth runs in a container itself or the engine is on another machine, and a copy in each
 * container would not reach those whose root file system is read-only.
 */
export class ContainerTool {
  readonly #client: EngineClient
  readonly #installation: string
  readonly #folder: string
  readonly #log: Pick<Logger, 'debug'> | undefined
  readonly #helpers: HelperContainers
  #volume: Promise<string | undefined> | undefined

  /** @param folder with a folder for each kind of machine (`.berth/container-tool`) */
  constructor({ client, installation, helpers }: ToolEngine, folder: string, log?: Pick<Logger, 'debug'>) {
    this.#client = client
    this.#installation = installation
    this.#helpers = helpers
    this.#folder = folder
    this.#log = log
  }

  /**
   * The mount of the tool, as the engine's API has it. A tool that cannot be had rejects nothing: a container without it is better than none. It stays
   * without it until its next restart makes it anew, because the engine adds no mount to a container that exists.
   * @param architecture of the engine's machine, as it says itself
   * @param signal rejects with its reason, as soon as a caller gives up
   * @returns nothing where there is no tool for it, or the engine cannot take it in now
   */
  async mounts(architecture: string, signal?: AbortSignal): Promise<readonly object[]> {
    this.#volume ??= this.#ensure(architecture).catch((error: unknown) => {
      this.#log?.debug({ err: error }, 'the container tool could not be put into its volume')
      setTimeout(() => (this.#volume = undefined), retryDelay).unref()
      return undefined
    })
    // An engine that does not answer about something else keeps no container from being made.
    const volume = await withTimeout(volumeTimeout, withSignal(this.#volume, signal))
    if (volume === undefined) return []
    return [
      {
        Type: 'volume',
        Source: volume,
        Target: containerToolFolder,
        ReadOnly: true,
        VolumeOptions: { NoCopy: true, Labels: toolLabels(this.#installation) },
      },
    ]
  }

  /** @returns the volume, which has the tool; undefined without a tool for this kind of machine */
  async #ensure(architecture: string): Promise<string | undefined> {
    const file = path.join(this.#folder, architectures.get(architecture) ?? architecture, containerToolName)
    const program = await readFile(file).catch(() => undefined)
    if (program === undefined) return undefined
    const hash = createHash('sha256').update(program).digest('hex').slice(0, 12)
    const volume = `${this.#installation}-tool-${hash}`
    await this.#createVolume(volume)
    const helper = await this.#helpers.create(volume, 'write')
    try {
      if (!(await this.#has(helper))) await this.#put(helper, program)
    } finally {
      await helper.remove()
    }
    await this.#removeOthers(volume)
    return volume
  }

  /** Makes it, unless it exists. */
  async #createVolume(volume: string): Promise<void> {
    const call = { what: `create ${volume}`, method: 'POST', path: '/volumes/create' } as const
    const body = { Name: volume, Labels: toolLabels(this.#installation) }
    await this.#client.ask({ ...call, body, timeout: callTimeouts.read })
  }

  /** Whether an earlier process has put it there. The name of the volume is made of what is in it. */
  async #has({ archivePath, folder }: Helper): Promise<boolean> {
    const call = { what: 'look for the container tool', method: 'HEAD', path: archivePath } as const
    const query = { path: `${folder}/${containerToolName}` }
    try {
      await this.#client.header({ ...call, query, timeout: callTimeouts.read }, 'x-docker-container-path-stat')
      return true
    } catch (error) {
      if (statusOf(error) === 404) return false
      throw error
    }
  }

  /** It gets its name when it is there whole: an archive that breaks off leaves the name before. */
  async #put({ archivePath, folder, requireMounted }: Helper, program: Buffer): Promise<void> {
    const archive = oneEntry({ name: containerToolName, size: program.length, type: 'file', mode: 0o755 }, program)
    const call = { what: 'put the container tool into its volume', method: 'PUT', path: archivePath } as const
    const query = { path: folder }
    await this.#client.ask({ ...call, query, archive, timeout: callTimeouts.writeFiles, kind: 'stream' })
    await requireMounted(call.what)
  }

  /** Volumes of earlier versions of the tool; the engine keeps one that a container still has. */
  async #removeOthers(volume: string): Promise<void> {
    const query = { filters: JSON.stringify({ label: toolFilter(this.#installation) }) }
    const call = { what: 'list volumes of the container tool', method: 'GET', path: '/volumes', query } as const
    const { Volumes } = await this.#client.ask<{ Volumes: readonly { readonly Name: string }[] | null }>({
      ...call,
      timeout: callTimeouts.list,
    })
    for (const { Name } of (Volumes ?? []).filter((each) => each.Name !== volume))
      await removeVolume(this.#client, Name).catch(() => undefined)
  }
}
