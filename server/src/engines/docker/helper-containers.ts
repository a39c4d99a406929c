import { createHash, randomBytes } from 'node:crypto'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { callTimeouts, isValidName, statusOf, type EngineClient } from './engine-client.ts'
import { helperLabel, helperLabels, helperTaskLabel, type HelperTask } from './labels.ts'

const label = helperLabel
/** Without a single file. */
const helperImage = 'berth-helper:empty'
/** Without a file: two blocks of zeros (POSIX.1-2001, pax). */
const emptyArchive = new Uint8Array(1024)
/** What an engine calls the layer that is made of it. */
const emptyLayer = `sha256:${createHash('sha256').update(emptyArchive).digest('hex')}`
/** Where the volume is in a helper. */
export const helperFolder = '/home'
/** Pause before a helper that could not be removed is removed again, in ms. */
const retryDelay = 5_000

/** A container that was created to reach a volume. */
export interface Helper {
  readonly archivePath: string
  readonly folder: string
  /**
   * After an archive was read or written: the volume was mounted until then, as `EngineRun`.
   * @throws {RuntimeError} the archive may lack a part, whatever the engine has answered
   */
  requireMounted(what: string): Promise<void>
  /** After a failure it is removed when the engine can do so. @throws {RuntimeError} */
  remove(): Promise<void>
}

/** Creates containers that are never started, from an empty image, each with one volume. */
export class HelperContainers {
  readonly #client: EngineClient
  readonly #installation: string
  #prepared: Promise<void> | undefined
  /** Under way, for all that wait for it. */
  #imageMade: Promise<void> | undefined
  /** By volume: until the helpers that a killed process left with it are removed. Never rejects. */
  readonly #abandoned = new Map<string, Promise<unknown>>()

  constructor(client: EngineClient, installation: string) {
    this.#client = client
    this.#installation = installation
  }

  /**
   * Resolves when no helper of a killed process has this volume any more. The engine removes a helper only after it has
   * ended the writing to it, so that nothing of an earlier process comes behind what is written next. One that the
   * engine never removes concerns its own volume alone.
   * @throws {RuntimeError} `unreachable`: such a helper is still there after 60 s
   */
  async free(volume: string): Promise<void> {
    const prepared = (this.#prepared ??= this.#prepare())
    prepared.catch(() => (this.#prepared = undefined))
    await prepared
    const removal = this.#abandoned.get(volume)
    if (!removal) return
    await withSignal(removal, AbortSignal.timeout(callTimeouts.remove)).catch((error: unknown) => {
      const what = `use ${volume}: the engine does not remove the helper of an earlier process`
      throw new RuntimeError('unreachable', what, error)
    })
  }

  /**
   * @param access a helper that only reads cannot change the volume, and neither can its removal: Docker 20.10 takes a request to an
   * archive also while it removes the container, such as one that was given up and waited in the engine, and the removal then
   * deletes all that it finds below the root of the container: the whole home (seen in one of 100 removals beside ten requests each)
   * @throws {RuntimeError} as `free`
   */
  async create(volume: string, access: 'read' | 'write'): Promise<Helper> {
    if (!isValidName(volume)) throw new RuntimeError('failed', `use ${volume}: the engine accepts no such name`)
    await this.free(volume)
    const run = await noteEngineRun(this.#client, this.#installation)
    try {
      const id = await this.#create(volume, access)
      return {
        archivePath: `/containers/${id}/archive`,
        folder: helperFolder,
        requireMounted: (what) => run.requireMounted(what, volume),
        remove: async () => {
          run.leave()
          await this.#removeOrRetry(id)
        },
      }
    } catch (error) {
      run.leave()
      throw error
    }
  }

  async #create(volume: string, access: 'read' | 'write'): Promise<string> {
    return this.createFrom(`create a helper for ${volume}`, {
      Cmd: ['never-started'],
      Labels: helperLabels(this.#installation),
      HostConfig: {
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        Mounts: [
          {
            Type: 'volume',
            Source: volume,
            Target: helperFolder,
            ReadOnly: access === 'read',
            VolumeOptions: { NoCopy: true },
          },
        ],
      },
    })
  }

  /**
   * Creates a container of the empty image. The image is made anew when it was removed meanwhile, as by `docker image prune -a`: helpers
   * are there for seconds, so nothing keeps it.
   * @param body as the engine's API has it, without the image @returns its id @throws {RuntimeError}
   */
  async createFrom(what: string, body: object): Promise<string> {
    const query = { name: `berth-helper-${randomBytes(8).toString('hex')}` }
    const call = {
      what,
      method: 'POST',
      path: '/containers/create',
      query,
      body: { Image: helperImage, ...body },
    } as const
    const create = () => this.#client.ask<{ Id: string }>({ ...call, timeout: callTimeouts.create })
    try {
      return (await create()).Id
    } catch (error) {
      if (!(error instanceof RuntimeError && error.kind === 'image')) throw error
      await this.#makeImage()
      return (await create()).Id
    }
  }

  /** Makes the image, and begins to remove what killed processes have left; once, or again after a failure. */
  async #prepare(): Promise<void> {
    await this.#makeImage()
    await this.#removeAbandoned()
  }

  /** Unless the engine has it. */
  async #makeImage(): Promise<void> {
    const make = async () => {
      if (!(await this.#hasImage())) await this.#importImage()
    }
    this.#imageMade ??= make().finally(() => (this.#imageMade = undefined))
    return this.#imageMade
  }

  /** One that is made anew would leave the earlier one in the engine, without a name. */
  async #hasImage(): Promise<boolean> {
    const call = {
      what: 'look for the empty image',
      method: 'GET',
      path: `/images/${encodeURIComponent(helperImage)}/json`,
    } as const
    try {
      const { RootFS } = await this.#client.ask<InspectedImage>({ ...call, timeout: callTimeouts.read })
      return RootFS?.Layers?.join() === emptyLayer
    } catch (error) {
      if (statusOf(error) === 404) return false
      throw error
    }
  }

  /** An image without a single file, which needs no registry. */
  async #importImage(): Promise<void> {
    const [repo, tag] = helperImage.split(':') as [string, string]
    const query = { fromSrc: '-', repo, tag }
    const call = { what: 'make an empty image', method: 'POST', path: '/images/create', query } as const
    const archive = (async function* () {
      yield emptyArchive
    })()
    // Its answer is several lines of JSON.
    await this.#client.download({ ...call, archive, timeout: callTimeouts.create }, 64 * 1024)
  }

  /** Those of a process that was killed keep their volumes from being removed. Waits for none of them. */
  async #removeAbandoned(): Promise<void> {
    const query = { all: '1', filters: JSON.stringify({ label: [`${label}=${this.#installation}`] }) }
    const call = { what: 'list helpers', method: 'GET', path: '/containers/json', query } as const
    const found = await this.#client.ask<ListedHelper[]>({ ...call, timeout: callTimeouts.list })
    const abandoned = found.filter(({ Labels }) => !isAlive(Number(Labels[`${label}.pid`])))
    const onlyReads = ({ Labels }: ListedHelper) => Labels[helperTaskLabel] === ('du' satisfies HelperTask)
    for (const { Id, Mounts } of abandoned.filter((each) => !onlyReads(each)))
      this.#removeAllOf(Mounts?.[0]?.Name ?? '', Id)
    // It may run for hours, and no process waits for its end.
    const removals = abandoned.filter(onlyReads).map(({ Id }) => this.#remove(Id, { force: '1' }))
    await Promise.allSettled(removals)
  }

  #removeAllOf(volume: string, id: string): void {
    const removal = Promise.all([this.#abandoned.get(volume), this.#removeNowOrLater(id)]).finally(() => {
      if (this.#abandoned.get(volume) === removal) this.#abandoned.delete(volume)
    })
    this.#abandoned.set(volume, removal)
  }

  /** Never rejects. */
  async #removeNowOrLater(id: string): Promise<void> {
    try {
      await this.#remove(id)
    } catch (error) {
      if (statusOf(error) !== 404) await this.#removeLater(id)
    }
  }

  /** One that is left keeps its volume from being removed. */
  async #removeOrRetry(id: string): Promise<void> {
    try {
      await this.#remove(id)
    } catch (error) {
      void this.#removeLater(id)
      throw error
    }
  }

  /** Never rejects. */
  async #removeLater(id: string): Promise<void> {
    for (let isLeft = true; isLeft;) {
      await sleep(retryDelay, undefined, { ref: false })
      isLeft = await this.#remove(id).then(
        () => false,
        (error: unknown) => statusOf(error) !== 404,
      )
    }
  }

  async #remove(id: string, query: Readonly<Record<string, string>> = {}): Promise<void> {
    const call = { what: 'remove a helper', method: 'DELETE', path: `/containers/${id}`, query } as const
    await this.#client.ask({ ...call, timeout: callTimeouts.remove })
  }
}

interface InspectedImage {
  readonly RootFS?: { readonly Layers?: readonly string[] | null }
}

/** What the engine's list has of a helper, which has one mount. */
interface ListedHelper {
  readonly Id: string
  readonly Labels: Readonly<Record<string, string>>
  readonly Mounts?: readonly { readonly Name?: string }[]
}

/** In a container each run has the same id: this process has made no helper yet. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** One run of the engine, from a start of its program to a stop. */
export interface EngineRun {
  /**
   * What this engine has done with a volume since the run was noted, it has done with the mounted volume. Docker that
   * is being stopped unmounts the volumes of containers that do not run, and answers what is under way as if it were
   * complete: an archive ends in order without what was not read yet (seen with 20.10), and what is written goes
   * elsewhere.
   * @throws {RuntimeError} `unreachable`: the engine stops, or has been started again since
   */
  requireMounted(what: string, volume: string): Promise<void>
  /** Ends the connection. */
  leave(): void
}

/**
 * Notes which run of the engine answers, by a connection that ends with it. The connection alone does not tell that the
 * engine is being stopped: it lasts until the program exits. A question about the volume alone does not either: where
 * the service manager holds the socket (systemd), a question waits there for the next start and is answered by that.
 * The engine closes its list of volumes before it unmounts any, so a volume that it still knows on the same run was
 * mounted until then.
 * @param installation the engine is asked for events of its helpers, which are few
 * @throws {RuntimeError}
 */
export async function noteEngineRun(client: EngineClient, installation: string): Promise<EngineRun> {
  const left = new AbortController()
  const events = await client.stream({
    what: 'listen for the end of the engine',
    method: 'GET',
    path: '/events',
    query: { filters: JSON.stringify({ type: ['container'], label: [`${helperLabel}=${installation}`] }) },
    timeout: callTimeouts.read,
    kind: 'stream',
    signal: left.signal,
  })
  const run = { isOver: false }
  void follow(events, run)
  return {
    requireMounted: async (what, volume) => {
      const call = {
        what: `look whether ${volume} is mounted`,
        method: 'GET',
        path: `/volumes/${encodeURIComponent(volume)}`,
      } as const
      const stopped = (cause?: unknown) =>
        new RuntimeError('unreachable', `${what}: the engine was stopped meanwhile`, cause)
      await client.ask({ ...call, timeout: callTimeouts.read }).catch((error: unknown) => {
        throw stopped(error)
      })
      // An end that has come together with the answer is noted in this turn.
      await turn()
      if (run.isOver) throw stopped()
    },
    leave: () => left.abort(),
  }
}

/** The events themselves do not matter. Never rejects. */
async function follow(events: AsyncIterable<unknown>, run: { isOver: boolean }): Promise<void> {
  try {
    for await (const event of events) void event
  } catch {
    // Broken off, or left.
  }
  run.isOver = true
}
