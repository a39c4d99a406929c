import pLimit from 'p-limit'
import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { HostCheck } from '#/containers/reconcile/host-check.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import { findUsers, type User } from '#/store/users.ts'
import { templateVersion, type Template } from '#/templates/template.ts'
import { replaceOlder } from './replace-older.ts'

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
  /** Its environment, where no version of one of this name is published: nothing can be launched. */
  readonly environmentMissing: string | undefined
  readonly older: readonly OlderContainer[]
}

/** A container that runs or is paused, and was made from another version. */
export interface OlderContainer {
  readonly userId: number
  readonly email: string
  readonly containerId: string
  /** Whether its owner was asked to restart it. */
  readonly isAsked: boolean
  /** False: groups keep its owner from launching the type, so it stays as it is until it is stopped. */
  readonly mayLaunch: boolean
}

/**
 * What happens to containers of an older version that run: `when_stopped` nothing until they are stopped, `ask` their
 * owners are asked to restart them, `now` they are replaced.
 */
export type UpdateMode = 'when_stopped' | 'ask' | 'now'

/** Numbers of containers that an update concerns, and of those that stay as they are: their owners may not launch the type. */
export interface UpdateCounts {
  readonly count: number
  readonly left: number
}

export interface TemplateAdministrationParts extends Pick<Foundation, 'database' | 'runtime' | 'log'> {
  readonly containers: Containers
  readonly hostCheck: HostCheck
  /** The file of the templates, read now; null: they are given as text, or are the demo's. */
  readonly readTemplates:
    (() => { readonly templates: readonly Template[]; readonly problems: readonly string[] }) | null
  /** The settings of the gateway and of other nodes, which follow from keys and templates. */
  readonly settings: {
    /** Sends the gateway its settings. */
    serve(): Promise<void>
    /** With several nodes: resolves when followers answer by the present state; otherwise at once. */
    publishToReaders(): Promise<void>
  }
}

/** Users that are read in one query. */
const pageSize = 500
/** Containers that are replaced at the same time; the launch queue orders them among all launches. */
const maxParallelReplacements = 4

/** Versions of the templates, who runs an older one, and new templates while Berth runs. */
export class TemplateAdministration {
  readonly #parts: TemplateAdministrationParts
  readonly #onChange: (() => void)[] = []
  readonly #replacements = pLimit(maxParallelReplacements)
  /** One reload at a time. */
  readonly #mutex = new KeyedMutex()

  constructor(parts: TemplateAdministrationParts) {
    this.#parts = parts
  }

  /** @param listener called when the templates are others, before the gateway learns of it */
  onChange(listener: () => void): void {
    this.#onChange.push(listener)
  }

  /** In the configured order. @throws {RuntimeError} when the engine does not answer */
  async list(): Promise<TemplateVersion[]> {
    const { templates } = this.#parts.containers
    const versions = await Promise.all(
      templates.all().map(async (each) => ({
        type: each.type,
        version: templateVersion(each),
        image: await this.#imageOf(each),
        environmentMissing: each.image === '' ? (each.environment ?? undefined) : undefined,
      })),
    )
    const current = new Map(versions.map((each) => [each.type, each]))
    const suspects = (await this.#running()).filter((each) => {
      const template = current.get(each.type)
      return template && (template.version !== each.version || hasOlderImage(each, template.image))
    })
    const users = await this.#usersOf(suspects)
    const older = new Map(versions.map(({ type }): [string, OlderContainer[]] => [type, []]))
    for (const each of suspects) {
      const [version, user] = [current.get(each.type), users.get(each.userId)]
      if (version && user && !this.#isUpToDate(each, version.image, user))
        older.get(each.type)?.push(await this.#toOlder(each, user))
    }
    return versions.map((template) => ({ ...template, older: older.get(template.type) ?? [] }))
  }

  /** Asks the store nothing where no group concerns the type. */
  async #toOlder({ containerId, type }: VersionedContainer, user: User): Promise<OlderContainer> {
    const { restartRequests, rules, templates } = this.#parts.containers
    const template = templates.get(type)
    const mayLaunch = !template || (await rules.refusalFor(user, template, new Date())) === undefined
    const isAsked = mayLaunch && restartRequests.has(containerId)
    return { userId: user.id, email: user.email, containerId, isAsked, mayLaunch }
  }

  /**
   * Brings containers of an older version of a template up to date, as an administrator chooses; those whose owners may not
   * launch the type stay as they are. The audit entry is stored before anything happens; replacements go on behind the answer.
   * @throws {Refusal} 400 unknown type; {RuntimeError} when the engine does not answer
   */
  async update(actor: Actor, type: string, mode: UpdateMode, at: Date): Promise<UpdateCounts> {
    const { database, containers, settings } = this.#parts
    const template = (await this.list()).find((each) => each.type === type)
    if (!template) throw refusals.unknownType(containers.templates.types)
    const older = template.older.filter(({ mayLaunch }) => mayLaunch)
    const detail = { type, mode, containers: older.length }
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'templates.update', target: 'templates', detail }]),
    )
    const ids = older.map(({ containerId }) => containerId)
    containers.restartRequests.set(ids, mode === 'ask')
    await settings.publishToReaders()
    if (mode === 'now') for (const each of older) void this.#replace(type, each)
    return { count: older.length, left: template.older.length - older.length }
  }

  /**
   * Reads the templates again: all are checked before any counts, and the audit entry is stored before that. What runs keeps
   * running. @returns the types
   * @throws {Refusal} 409 templates that are no file · 400 with all problems; then nothing has changed
   */
  async reload(actor: Actor, now: Date): Promise<readonly string[]> {
    return this.#mutex.run('templates', () => this.#reload(actor, now))
  }

  async #reload(actor: Actor, at: Date): Promise<readonly string[]> {
    const { database, readTemplates, hostCheck } = this.#parts
    if (!readTemplates) throw refusals.conflict(message('requests.templatesAreText'))
    const { templates, problems } = readTemplates()
    const all = problems.length > 0 ? problems : await hostCheck.lackingFor(templates)
    if (all.length > 0) throw refusals.badRequest(message('requests.wrongTemplates', { problems: all.join(' · ') }))
    const types = templates.map(({ type }) => type)
    const detail = { types: types.join(', ') }
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'templates.reload', target: 'templates', detail }]),
    )
    await this.#apply(templates)
    return types
  }

  async #apply(next: readonly Template[]): Promise<void> {
    const { containers, settings } = this.#parts
    containers.templates.replace(next)
    containers.startTimers()
    for (const listener of this.#onChange) listener()
    await settings.serve()
    await settings.publishToReaders()
    await containers.routeSync.readAll()
  }

  #replace(type: string, older: OlderContainer): Promise<void> {
    const { database, containers, log } = this.#parts
    return this.#replacements(async () => {
      await tryOrLog(log, `replacing ${type} of user ${older.userId}`, () =>
        replaceOlder(database.db, containers, { userId: older.userId, type }),
      )
    })
  }

  async #imageOf({ image: reference }: Template): Promise<TemplateImage> {
    const info = reference === '' ? undefined : await this.#parts.runtime.imageInfo(reference)
    return { reference, id: info?.id ?? null, digest: info?.digest ?? null, pulledAt: info?.taggedAt ?? null }
  }

  async #running(): Promise<VersionedContainer[]> {
    const all = await this.#parts.runtime.list()
    return all.flatMap(({ id, owner, state, templateVersion: version, fingerprint, imageId }) =>
      owner && (state === 'running' || state === 'paused')
        ? [{ containerId: id, userId: owner.userId, type: owner.type, version, fingerprint, imageId }]
        : [],
    )
  }

  #isUpToDate(container: VersionedContainer, image: TemplateImage, user: User): boolean {
    const { containers } = this.#parts
    const { version, fingerprint, type } = container
    if (hasOlderImage(container, image)) return false
    const template = containers.templates.get(type)
    return version === undefined && template !== undefined && fingerprint === containers.fingerprintOf(user, template)
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
