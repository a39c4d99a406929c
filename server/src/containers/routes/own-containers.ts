import { listContainersOf, type UserContainer } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import type { Templates } from '#/templates/template.ts'
import type { RestartRequests } from './restart-requests.ts'
import { listContainers, type ListedContainer } from './list-containers.ts'
import { primaryOf, type StatusLookup, type StatusLookups } from './status-lookups.ts'

/** Record of the primary container, and its state by the engine; no record when nothing was created. */
export interface PrimaryContainer {
  readonly record: UserContainer | undefined
  /** Undefined when there is no container id to look up. */
  readonly lookup: StatusLookup | undefined
}

/** Containers of one user as that user reads them: records of the store with the state that the engine reports. */
export class OwnContainers {
  readonly #db: Db
  readonly #templates: Templates
  readonly #rules: Pick<LaunchRules, 'visible'>
  readonly #lookups: Pick<StatusLookups, 'of' | 'ofEach'>
  readonly #restartRequests: Pick<RestartRequests, 'has'>

  constructor(
    db: Db,
    templates: Templates,
    rules: Pick<LaunchRules, 'visible'>,
    lookups: Pick<StatusLookups, 'of' | 'ofEach'>,
    restartRequests: Pick<RestartRequests, 'has'>,
  ) {
    this.#db = db
    this.#templates = templates
    this.#rules = rules
    this.#lookups = lookups
    this.#restartRequests = restartRequests
  }

  /** The record that the auth response names, see `primaryOf`; the engine is not asked. */
  async primaryRecord(userId: number): Promise<UserContainer | undefined> {
    return primaryOf(await listContainersOf(this.#db, userId), this.#templates)
  }

  /** The container that `me` and `status` describe, see `primaryOf`. @throws when the store fails, never because of the engine */
  async primary(userId: number): Promise<PrimaryContainer> {
    const record = await this.primaryRecord(userId)
    const id = record?.containerId ?? null
    return { record, lookup: id === null ? undefined : await this.#lookups.of(id) }
  }

  /** One entry for each configured type that the user may see, see `listContainers`. */
  async list(user: Pick<User, 'id' | 'isAdmin'>): Promise<ListedContainer[]> {
    const visible = await this.#rules.visible(user)
    return listContainers(this.#lookups, visible, await listContainersOf(this.#db, user.id), this.#restartRequests)
  }
}
