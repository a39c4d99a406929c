import { refusals } from '#/refusals/errors.ts'
import type { AuditEntry } from '#/store/audit-log.ts'
import { findContainers } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { findUser } from '#/store/users.ts'
import type { HomeOwner } from './home-access.ts'
import { noteHomeAction, type HomeAction } from './home-audit.ts'
import type { HomeSnapshots } from './home-snapshots.ts'
import type { Snapshot } from './snapshot-files.ts'

type Actor = AuditEntry['actor']

/** The operator's work on snapshots of homes of all users, by the number of a container's record; audited once it is done. */
export class SnapshotAdministration {
  readonly #database: Database
  readonly #snapshots: HomeSnapshots

  constructor(database: Database, snapshots: HomeSnapshots) {
    this.#database = database
    this.#snapshots = snapshots
  }

  /** @throws {Refusal} 404 */
  async list(id: number): Promise<{ readonly found: Snapshot[]; readonly hasStarterFiles: boolean }> {
    const { owner, type } = await this.#find(id)
    const found = await this.#snapshots.list(owner, type)
    return { found, hasStarterFiles: this.#snapshots.hasStarterFiles(type) }
  }

  /** @throws {Refusal} 404 · as `HomeSnapshots.take` */
  async take(actor: Actor, id: number, now: Date): Promise<Snapshot> {
    const home = await this.#find(id)
    const made = await this.#snapshots.take(home.owner, home.type, now)
    await this.#note('home.snapshot', actor, home, { snapshot: made.id }, now)
    return made
  }

  /** @returns name of the new folder @throws {Refusal} 404 · as `HomeSnapshots.restore` */
  async restore(actor: Actor, id: number, snapshot: string, only: string, now: Date): Promise<string> {
    const home = await this.#find(id)
    const folder = await this.#snapshots.restore(home.owner, home.type, snapshot, only, now)
    await this.#note('home.restore', actor, home, { snapshot, folder }, now)
    return folder
  }

  /** @throws {Refusal} 404 */
  async remove(actor: Actor, id: number, snapshot: string, now: Date): Promise<void> {
    const home = await this.#find(id)
    await this.#snapshots.remove(home.owner, home.type, snapshot)
    await this.#note('home.remove-snapshot', actor, home, { snapshot }, now)
  }

  async #find(id: number): Promise<Home> {
    const [container] = await findContainers(this.#database.db, [id])
    const owner = container && (await findUser(this.#database.db, container.userId))
    if (!owner) throw refusals.notFound('container')
    return { owner, type: container.type }
  }

  async #note(action: HomeAction, actor: Actor, home: Home, detail: Record<string, string>, at: Date): Promise<void> {
    await noteHomeAction(this.#database, { action, actor, ...home, detail }, at)
  }
}

interface Home {
  readonly owner: HomeOwner
  readonly type: string
}
