import { message } from '@berth/texts/localized-message.ts'
import type { HomeContents, HomeOwnerCounts, HomeLocation } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { refusals } from '#/refusals/errors.ts'
import type { AuditEntry } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findContainers, listContainersOf, setHomeProblem, type UserContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'
import type { TemplateSources } from '#/templates/template-sources.ts'
import type { Template, Templates } from '#/templates/template.ts'
import { noteHomeAction, notWritten, type HomeAccess, type HomeOwner } from './home-access.ts'

export interface HomeOwnerChangesParts {
  readonly database: Database
  readonly access: HomeAccess
  readonly contents: HomeContents | undefined
  readonly templates: Pick<Templates, 'all'>
  readonly sources: Pick<TemplateSources, 'whenAnswering' | 'mountsOf'>
}

/** Accounts as `uid` or `uid:gid`. */
export interface WantedOwner {
  /** Undefined: whose the home itself is. */
  readonly from: string | undefined
  /** Undefined: the account of the program that cannot write to the home. */
  readonly to: string | undefined
}

export interface ChangedOwner extends HomeOwnerCounts {
  readonly to: string
}

export type OwnerProgress = Pick<HomeOwnerCounts, 'seen' | 'changed'>

/**
 * Gives homes to another account, for the operator: a template moved to an image whose program runs as another one, and cannot
 * write to homes that there are. No container with the home runs or is launched meanwhile.
 */
export class HomeOwnerChanges {
  readonly #parts: HomeOwnerChangesParts
  /** By the id of the container. */
  readonly #running = new Map<number, OwnerProgress>()

  constructor(parts: HomeOwnerChangesParts) {
    this.#parts = parts
  }

  /** Undefined while nothing is done to the home of this container. */
  progressOf(containerId: number): OwnerProgress | undefined {
    return this.#running.get(containerId)
  }

  /**
   * @param signal ends it early; what was changed until then stays so, and the next call completes it
   * @throws {Refusal} 404 · 409 a container with the home runs, nothing says to which account, or the engine needs no change · 429 · 500
   */
  async change(
    actor: AuditEntry['actor'],
    id: number,
    wanted: WantedOwner,
    signal: AbortSignal,
    now: Date,
  ): Promise<ChangedOwner> {
    const { database, access, contents } = this.#parts
    const [container] = await findContainers(database.db, [id])
    const owner = container && (await findUser(database.db, container.userId))
    if (!container || !owner) throw refusals.notFound('container')
    const { type } = container
    const template = access.requireType(type)
    if (template.home === null) throw refusals.conflict(message('snapshots.noHome'))
    const changeOwner = contents?.changeOwner?.bind(contents)
    if (!changeOwner) throw refusals.conflict(message('snapshots.ownerKept'))
    const to = wanted.to ?? container.homeProblem?.program.toString()
    if (to === undefined) throw refusals.conflict(message('snapshots.noProblem'))
    const begun = { seen: 0, changed: 0 }
    const limit = AbortSignal.any([signal, access.timeLimit()])
    const verb = `change-owner ${wanted.from} ${to}`
    const done = await access.run(owner, type, verb, notWritten, async ({ volume }) => {
      const home = template.homeSource ? await this.#folderOf(owner, template) : { volume }
      this.#running.set(id, begun)
      try {
        const onProgress = (progress: OwnerProgress) => void this.#running.set(id, progress)
        return await changeOwner(home, { from: wanted.from, to, signal: limit, onProgress })
      } catch (error) {
        throw error instanceof RuntimeError && error.kind === 'missing' ? error : refusals.homeOwnerFailed(error)
      } finally {
        this.#running.delete(id)
      }
    })
    const from = `${done.from.uid}:${done.from.gid}`
    const detail = { from, to, changed: done.changed }
    await noteHomeAction(database, { action: 'home.change-owner', actor, owner, type, detail }, now)
    await this.#forgetProblems(container, Number(to.split(':')[0]))
    return { ...done, to }
  }

  /**
   * Types may have the same folder of a file server, and nothing locks it for all: none of them may run.
   * @throws {Refusal} 409 @throws {RuntimeError}
   */
  async #folderOf(owner: HomeOwner, template: Template): Promise<HomeLocation> {
    const { access, templates, sources } = this.#parts
    for (const each of templates.all()) if (each.homeSource) await access.requireNot(owner, each.type, notWritten)
    const person = { userId: owner.id, slug: owner.slug }
    await sources.whenAnswering(template, person)
    const mount = sources.mountsOf(template, person).find(({ target }) => target === template.home)
    if (!mount || !('path' in mount.source)) throw refusals.conflict(message('snapshots.ownerKept'))
    return { folder: mount.source.path }
  }

  /** The next start of those that run as another account looks anew. */
  async #forgetProblems({ userId, type }: UserContainer, uid: number): Promise<void> {
    const { db } = this.#parts.database
    const types = this.#parts.access.typesWith(type)
    for (const each of await listContainersOf(db, userId))
      if (types.includes(each.type) && each.homeProblem?.program === uid) await setHomeProblem(db, each.id, null)
  }
}
