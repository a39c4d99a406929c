import type { Database } from '#/store/database.ts'
import { findUsers, type User } from '#/store/users.ts'

/** A container that runs or is paused, as far as its template's version goes. */
export interface VersionedContainer {
  readonly containerId: string
  readonly userId: number
  readonly type: string
  /** Undefined on containers of a Berth that knew no versions. */
  readonly version: string | undefined
  readonly fingerprint: string | null
  readonly imageId: string
}

/** Image of a template. */
export interface TemplateImage {
  readonly reference: string
  /** Of what the engine has by this name; null for none. */
  readonly id: string | null
  readonly digest: string | null
  /** When it was pulled, or built on this machine. */
  readonly pulledAt: Date | null
}

export interface TemplateVersion {
  readonly type: string
  readonly version: string
  readonly image: TemplateImage
  readonly older: readonly OlderContainer[]
}

/** A container that runs or is paused, and was made from another version. */
export interface OlderContainer {
  readonly userId: number
  readonly email: string
  readonly containerId: string
  /** Whether its owner was asked to restart it. */
  readonly isAsked: boolean
}

export interface TemplateVersionsParts {
  readonly database: Database
  /** In the configured order. */
  readonly versions: () => readonly { readonly type: string; readonly version: string }[]
  /** @throws when the engine does not answer */
  readonly imageOf: (type: string) => Promise<TemplateImage>
  readonly isAsked: (containerId: string) => boolean
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
    const { versions, imageOf, running } = this.#parts
    const templates = await Promise.all(versions().map(async (each) => ({ ...each, image: await imageOf(each.type) })))
    const current = new Map(templates.map((each) => [each.type, each]))
    const suspects = (await running()).filter((each) => {
      const template = current.get(each.type)
      return template && (template.version !== each.version || hasOlderImage(each, template.image))
    })
    const users = await this.#usersOf(suspects)
    return templates.map((template) => ({
      ...template,
      older: suspects.flatMap((each) => {
        const user = users.get(each.userId)
        if (each.type !== template.type || !user || this.#isUpToDate(each, template.image, user)) return []
        const { containerId } = each
        return { userId: user.id, email: user.email, containerId, isAsked: this.#parts.isAsked(containerId) }
      }),
    }))
  }

  #isUpToDate(container: VersionedContainer, image: TemplateImage, user: User): boolean {
    const { version, fingerprint, type } = container
    if (hasOlderImage(container, image)) return false
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

/** Whether the image was built or pulled again since. */
const hasOlderImage = ({ imageId }: VersionedContainer, { id }: TemplateImage) => id !== null && imageId !== id
