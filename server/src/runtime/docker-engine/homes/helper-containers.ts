import { randomBytes } from 'node:crypto'
import { callTimeouts, type EngineClient } from '../client/engine-client.ts'
import { isValidName } from '../containers/docker-inspect.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'

/** Marks helpers; not the label of installations, so that no reconciler takes one for a container of a user. */
const [label, image] = ['berth.helper', 'berth-helper:empty']
/** Where the volume is in a helper. */
const folder = '/home'

/** A container that was created to reach a volume. */
export interface Helper {
  readonly archivePath: string
  readonly folder: string
  remove(): Promise<void>
}

/** Creates containers that are never started, from an empty image, each with one volume. */
export class HelperContainers {
  readonly #client: EngineClient
  readonly #installation: string
  #prepared: Promise<void> | undefined

  constructor(client: EngineClient, installation: string) {
    this.#client = client
    this.#installation = installation
  }

  /**
   * Makes the image, and removes the helpers of processes that were killed; once, or again after a failure. The engine removes a
   * helper only after it has ended the writing to it, so that nothing of an earlier process comes behind what is written next.
   * @throws {RuntimeError}
   */
  async prepare(): Promise<void> {
    const prepared = (this.#prepared ??= this.#prepare())
    prepared.catch(() => (this.#prepared = undefined))
    await prepared
  }

  /** @throws {RuntimeError} */
  async create(volume: string): Promise<Helper> {
    if (!isValidName(volume)) throw new RuntimeError('failed', `use ${volume}: the engine accepts no such name`)
    await this.prepare()
    const what = `create a helper for ${volume}`
    const body = {
      Image: image,
      Cmd: ['never-started'],
      Labels: { [label]: this.#installation, [`${label}.pid`]: String(process.pid) },
      HostConfig: {
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        Mounts: [{ Type: 'volume', Source: volume, Target: folder, VolumeOptions: { NoCopy: true } }],
      },
    }
    const query = { name: `berth-helper-${randomBytes(8).toString('hex')}` }
    const call = { what, method: 'POST', path: '/containers/create', query, body } as const
    const { Id } = await this.#client.ask<{ Id: string }>({ ...call, timeout: callTimeouts.create })
    return { archivePath: `/containers/${Id}/archive`, folder, remove: () => this.#remove(Id) }
  }

  async #prepare(): Promise<void> {
    await this.#importImage()
    await this.#removeAbandoned()
  }

  /** An image without a single file, which needs no registry. */
  async #importImage(): Promise<void> {
    const [repo, tag] = image.split(':') as [string, string]
    const query = { fromSrc: '-', repo, tag }
    const call = { what: 'make an empty image', method: 'POST', path: '/images/create', query } as const
    const emptyTar = async function* () {
      yield new Uint8Array(1024)
    }
    // Its answer is several lines of JSON.
    await this.#client.download({ ...call, archive: emptyTar(), timeout: callTimeouts.create }, 64 * 1024)
  }

  /** Those of a process that was killed keep their volumes from being removed. */
  async #removeAbandoned(): Promise<void> {
    const query = { all: '1', filters: JSON.stringify({ label: [`${label}=${this.#installation}`] }) }
    const call = { what: 'list helpers', method: 'GET', path: '/containers/json', query } as const
    const found = await this.#client.ask<{ Id: string; Labels: Record<string, string> }[]>({
      ...call,
      timeout: callTimeouts.list,
    })
    for (const { Id, Labels } of found) if (!isAlive(Number(Labels[`${label}.pid`]))) await this.#remove(Id)
  }

  async #remove(id: string): Promise<void> {
    const call = { what: 'remove a helper', method: 'DELETE', path: `/containers/${id}` } as const
    await this.#client.ask({ ...call, timeout: callTimeouts.remove })
  }
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
