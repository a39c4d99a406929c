import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { findContainers, type UserContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'

export interface ContainerSupportParts {
  readonly database: Database
  readonly containers: Pick<Containers, 'templates' | 'rules' | 'spawner' | 'logs' | 'ownerActions'>
  readonly onFailure: (error: unknown, container: UserContainer) => void
}

/** Result of a stop. */
export interface Stopped {
  readonly container: UserContainer
  /** False when it did not run. */
  readonly wasRunning: boolean
}

/**
 * What administrators do with the container of a user who asks for help, without taking over the account. Each is
 * audited with the container as target, so that the owner finds it among what is kept about them.
 */
export class ContainerSupport {
  readonly #parts: ContainerSupportParts

  constructor(parts: ContainerSupportParts) {
    this.#parts = parts
  }

  /**
   * Stops a container without blocking it: its owner starts it again.
   * @returns whether it ran @throws {Refusal} 404 · 500 the engine could not within its limit
   */
  async stop(actor: Actor, id: number, now: Date): Promise<Stopped> {
    const { database, containers } = this.#parts
    const container = await find(database.db, id)
    await this.#audit(actor, 'container.stop', container, now)
    return { container, wasRunning: await containers.ownerActions.stopUnchecked(container, 'administrator') }
  }

  /**
   * Replaces a container with a new one; its home stays. It begins before the answer and ends after it; its owner sees a
   * failure as with a restart of their own.
   * @throws {Refusal} 404 · 400 its type is not configured any more · 409 it or its owner is blocked
   * · 403 the owner may not launch the type; then nothing was changed
   */
  async restart(actor: Actor, id: number, now: Date): Promise<void> {
    const { database, containers, onFailure } = this.#parts
    const { templates, rules, spawner } = containers
    const container = await find(database.db, id)
    const user = await findUser(database.db, container.userId)
    if (!user) throw refusals.notFound('container')
    const template = templates.get(container.type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    if (user.isBlocked || container.isBlocked) throw refusals.conflict(message('refusals.notRestarted'))
    const refusal = await rules.refusalFor(user, template, now)
    if (refusal) throw refusal
    await this.#audit(actor, 'container.restart', container, now)
    spawner.replace(user, template, now).catch((error: unknown) => onFailure(error, container))
  }

  /**
   * What its program wrote last; it need not run, and its type need not be configured any more. Output may have what its
   * owner typed.
   * @returns oldest first @throws {Refusal} 404 no such container, or the engine has none · 500 the engine does not answer
   */
  async readLogs(actor: Actor, id: number, lines: number, now: Date): Promise<readonly string[]> {
    const { database, containers } = this.#parts
    const container = await find(database.db, id)
    await this.#audit(actor, 'container.read-logs', container, now)
    return containers.logs.last(container, lines)
  }

  async #audit(
    actor: Actor,
    action: 'container.stop' | 'container.restart' | 'container.read-logs',
    { id, userId, type }: UserContainer,
    at: Date,
  ): Promise<void> {
    const entry = { at, actor, action, target: `container:${id}`, detail: { user: userId, type } }
    await this.#parts.database.transaction((tx) => insertAuditEntries(tx, [entry]))
  }
}

/** @throws {Refusal} 404 */
async function find(db: Db, id: number): Promise<UserContainer> {
  const [container] = await findContainers(db, [id])
  if (!container) throw refusals.notFound('container')
  return container
}
