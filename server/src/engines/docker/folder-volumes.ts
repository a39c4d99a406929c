import { RuntimeError } from '#/engines/runtime-error.ts'
import { oneEntry } from '#/engines/tar/archive-rewrite.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { pathStatus } from './container-files.ts'
import { callTimeouts, isValidName } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import type { Helper } from './helper-containers.ts'
import { findVolume, removeVolume } from './home-volumes.ts'
import { folderLabels, isOfInstallation } from './labels.ts'

type Engine = Pick<EngineContext, 'client' | 'installation' | 'helpers'>

/** Every account writes to it where it is mounted writable: images run their programs as different ones. */
const mode = 0o777

/** Volumes that containers of several people have: made and then opened to all accounts, which the engine does not do in one. */
export class FolderVolumes {
  readonly #engine: Engine
  /** By volume: what one call has made is not used by another one before it is open. */
  readonly #mutex = new KeyedMutex()
  /** Those that this process has seen open; an earlier one may have ended before it had opened what it had made. */
  readonly #open = new Set<string>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Makes sure of a volume to which every account may write. After a failure it may be there, closed: the next call opens it.
   * @throws {RuntimeError} `conflict` when it belongs to another installation
   */
  async ensure(volume: string): Promise<void> {
    const what = `make the folder ${volume}`
    if (!isValidName(volume)) throw new RuntimeError('failed', `${what}: the engine accepts no such name`)
    await this.#mutex.run(volume, () => this.#ensure(volume, what))
  }

  /** Nothing to do when it is gone or another installation's. @throws {RuntimeError} `conflict` when a container has it */
  async remove(volume: string): Promise<void> {
    const { client, installation } = this.#engine
    await this.#mutex.run(volume, async () => {
      const found = await findVolume(client, volume)
      if (found && isOfInstallation(found.Labels, installation)) await removeVolume(client, volume)
      this.#open.delete(volume)
    })
  }

  async #ensure(volume: string, what: string): Promise<void> {
    const { client, installation } = this.#engine
    const found = await findVolume(client, volume)
    if (found && !isOfInstallation(found.Labels, installation))
      throw new RuntimeError('conflict', `${what}: a volume of this name is not of this installation`)
    if (found && this.#open.has(volume)) return
    if (!found) {
      const body = { Name: volume, Labels: folderLabels(installation) }
      await client.ask({ what, method: 'POST', path: '/volumes/create', body, timeout: callTimeouts.read })
    }
    if (!found || !(await this.#isOpen(volume))) await this.#openToAll(volume)
    this.#open.add(volume)
  }

  /** Read-only: nothing that fails can harm what is in it. */
  async #isOpen(volume: string): Promise<boolean> {
    const { client } = this.#engine
    const status = await this.#withHelper(volume, 'read', ({ archivePath, folder: path }) =>
      pathStatus(client, { archivePath, path }, AbortSignal.timeout(callTimeouts.read)),
    )
    return status?.mode === mode
  }

  async #openToAll(volume: string): Promise<void> {
    await this.#withHelper(volume, 'write', async ({ archivePath, folder, requireMounted }) => {
      // The engine leaves the owner and the mode of the folder that it unpacks into alone.
      const archive = oneEntry({ name: `${folder.slice(1)}/`, size: 0, type: 'directory', mode, uid: 0, gid: 0 })
      const [what, query] = [`open the folder ${volume}`, { path: '/' }]
      const call = { what, method: 'PUT', path: archivePath, query, archive, kind: 'stream' } as const
      await this.#engine.client.ask({ ...call, timeout: callTimeouts.writeFiles })
      await requireMounted(what)
    })
  }

  async #withHelper<T>(volume: string, access: 'read' | 'write', work: (helper: Helper) => Promise<T>): Promise<T> {
    const helper = await this.#engine.helpers.create(volume, access)
    try {
      return await work(helper)
    } finally {
      await helper.remove()
    }
  }
}
