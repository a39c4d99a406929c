import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
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
  /** Id of what the engine has by this name; null for none. */
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

/**
 * What happens to containers of an older version that run: `when_stopped` nothing until they are stopped, `ask` their
 * owners are asked to restart them, `now` they are replaced.
 */
export type UpdateMode = 'when_stopped' | 'ask' | 'now'

export interface UpdateContainersParts {
  readonly database: Database
  readonly versions: Pick<TemplateVersions, 'list'>
  /** Configured types. */
  readonly types: () => readonly string[]
  /** Replaces containers behind the answer. */
  readonly replace: (type: string, containers: readonly OlderContainer[]) => void
  /** Asks owners, or withdraws that. Resolves when it counts at all nodes. */
  readonly ask: (containerIds: readonly string[], isAsked: boolean) => Promise<void>
}

/** Brings containers of an older version of a template up to date, as an administrator chooses. */
export class UpdateContainers {
  readonly #parts: UpdateContainersParts

  constructor(parts: UpdateContainersParts) {
    this.#parts = parts
  }

  /**
   * The audit entry is stored before anything happens. @returns the number of containers that it concerns
   * @throws {Refusal} 400 unknown type; {RuntimeError} when the engine does not answer
   */
  async run(actor: Actor, type: string, mode: UpdateMode, at: Date): Promise<number> {
    const { database, versions, types, replace, ask } = this.#parts
    const template = (await versions.list()).find((each) => each.type === type)
    if (!template) throw refusals.unknownType(types())
    const { older } = template
    const detail = { type, mode, containers: older.length }
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'templates.update', target: 'templates', detail }]),
    )
    await ask(
      older.map(({ containerId }) => containerId),
      mode === 'ask',
    )
    if (mode === 'now') replace(type, older)
    return older.length
  }
}

export interface ReloadTemplatesParts<T> {
  readonly database: Database
  /** Reads the file of templates; null: they are given as text, or are the demo's. */
  readonly read: (() => { readonly templates: readonly T[]; readonly problems: readonly string[] }) | null
  /** What the engine lacks for them. */
  readonly lackingFor: (templates: readonly T[]) => Promise<readonly string[]>
  /** Puts them in force in every part; what runs keeps running. */
  readonly apply: (templates: readonly T[]) => Promise<void>
  readonly typesOf: (templates: readonly T[]) => readonly string[]
}

/** Reads the templates again while Berth runs: all are checked before any counts. */
export class ReloadTemplates<T> {
  readonly #parts: ReloadTemplatesParts<T>
  /** One reload at a time. */
  readonly #mutex = new KeyedMutex()

  constructor(parts: ReloadTemplatesParts<T>) {
    this.#parts = parts
  }

  /**
   * The audit entry is stored before the templates count. @returns the types
   * @throws {Refusal} 409 templates that are no file · 400 with all problems; then nothing has changed
   */
  async run(actor: Actor, now: Date): Promise<readonly string[]> {
    return this.#mutex.run('templates', () => this.#reload(actor, now))
  }

  async #reload(actor: Actor, at: Date): Promise<readonly string[]> {
    const { database, read, lackingFor, apply, typesOf } = this.#parts
    if (!read) throw refusals.conflict(message('requests.templatesAreText'))
    const { templates, problems } = read()
    const all = problems.length > 0 ? problems : await lackingFor(templates)
    if (all.length > 0) throw refusals.badRequest(message('requests.wrongTemplates', { problems: all.join(' · ') }))
    const types = typesOf(templates)
    const detail = { types: types.join(', ') }
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'templates.reload', target: 'templates', detail }]),
    )
    await apply(templates)
    return types
  }
}
