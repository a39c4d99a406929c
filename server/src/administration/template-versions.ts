import type { Database } from '#/store/database.ts'
import { findUsers, type User } from '#/store/users/users.ts'

/** A container that runs or is paused, as far as its template's version goes. */
export interface VersionedContainer {
  readonly containerId: string
  readonly userId: number
  readonly type: string
  /** Undefined on containers of a Berth that knew no versions. */
  readonly version: string | undefined
  readonly fingerprint: string | null
}

export interface TemplateVersion {
  readonly type: string
  readonly version: string
  readonly older: readonly { readonly userId: number; readonly email: string; readonly containerId: string }[]
}

export interface TemplateVersionsParts {
  readonly database: Database
  /** In the configured order. */
  readonly versions: () => readonly { readonly type: string; readonly version: string }[]
  /** What runs or is paused. @throws when the engine does not answer */
  readonly running: () => Promise<readonly VersionedContainer[]>
  /** Fingerprint that a container of this user and type would have now; undefined when the type is gone. */
  readonly fingerprintOf: (user: User, type: string) => string | undefined
}

/** Users that are read in one query. */
const pageSize = 500

/** Versions of the templates, and who runs an older one. */
export class TemplateVersions {
  readonly #parts: TemplateVersionsParts

  constructor(parts: TemplateVersionsParts) {
    this.#parts = parts
  }

  /** @throws {RuntimeError} when the engine does not answer */
  async list(): Promise<TemplateVersion[]> {
    const versions = this.#parts.versions()
    const current = new Map(versions.map(({ type, version }) => [type, version]))
    const suspects = (await this.#parts.running()).filter(
      ({ type, version }) => current.has(type) && current.get(type) !== version,
    )
    const users = await this.#usersOf(suspects)
    return versions.map(({ type, version }) => ({
      type,
      version,
      older: suspects.flatMap((each) => {
        const user = users.get(each.userId)
        if (each.type !== type || !user || this.#isUpToDate(each, user)) return []
        return { userId: user.id, email: user.email, containerId: each.containerId }
      }),
    }))
  }

  #isUpToDate({ version, fingerprint, type }: VersionedContainer, user: User): boolean {
    return version === undefined && fingerprint === this.#parts.fingerprintOf(user, type)
  }

  async #usersOf(containers: readonly VersionedContainer[]): Promise<Map<number, User>> {
    const ids = [...new Set(containers.map(({ userId }) => userId))]
    const users = new Map<number, User>()
    for (let at = 0; at < ids.length; at += pageSize)
      for (const user of await findUsers(this.#parts.database.db, ids.slice(at, at + pageSize)))
        users.set(user.id, user)
    return users
  }
}
