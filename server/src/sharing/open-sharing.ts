import { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { LookState } from '#/groups/open-groups.ts'
import { Coalescer } from '#/machine/single-flight.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { deleteEndedShares } from '#/store/container-shares.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { Template } from '#/templates/template.ts'
import { LookRequests } from './look-requests.ts'
import { Looks } from './looks.ts'
import { SharePublisher } from './share-publisher.ts'
import { ShareAdministration, Shares, isShareable, type SharingSettings } from './shares.ts'
import { Visitors } from './visitors.ts'

export interface SharingParts extends Pick<Foundation, 'database' | 'log'> {
  readonly config: { readonly sharing: SharingSettings }
  readonly containers: Containers
}

/** The room of sharing. Where the settings switch it off, it reads nothing and has no timer. */
export class Sharing {
  readonly settings: SharingSettings
  readonly visitors: Visitors
  readonly lookRequests: LookRequests
  readonly shares: Shares
  readonly administration: ShareAdministration
  readonly looks: Looks
  /** Finds what another process has changed, and deletes what has ended. */
  readonly task: Task
  readonly #parts: SharingParts
  readonly #publisher: SharePublisher
  /** A class that joins by its code causes two reads of all shares, not thirty. */
  readonly #refreshes = new Coalescer(() => this.#refresh())

  constructor(parts: SharingParts) {
    const { config, database, containers } = parts
    const { templates, rules, routeSync, events, subscriptions } = containers
    const settings = config.sharing
    this.#parts = parts
    this.settings = settings
    this.visitors = new Visitors({
      containerAt: (prefix) => routeSync.findByPrefix(prefix),
      emailOf: (userId) => routeSync.gatewayUserOf({ userId })?.email,
      onChange: (userId, event) => events.publish(userId, event),
    })
    this.lookRequests = new LookRequests({ onChange: (userId, event) => events.publish(userId, event) })
    const { visitors, lookRequests } = this
    this.#publisher = new SharePublisher({
      db: database.db,
      settings,
      routeSync,
      onRead: (shares) => lookRequests.setLooks(shares),
    })
    const shareParts = {
      database,
      templates,
      settings,
      changes: new OwnChangeLimit(),
      publish: (now: Date) => this.#publish(now),
      onEnd: (owned: ContainerRef) => visitors.forget(owned),
    }
    this.looks = new Looks({ ...shareParts, requests: lookRequests })
    this.shares = new Shares(shareParts)
    this.administration = new ShareAdministration(shareParts)
    this.task = { name: 'shares', run: (now) => this.#run(now) }
    routeSync.onChange({ onGone: (owned) => visitors.forget(owned) })
    for (const source of [visitors, lookRequests]) subscriptions.addSource(source)
    rules.directory.onChange(() => void this.refresh())
  }

  isLookable(template: Template): boolean {
    return this.settings.isOn && isShareable(template)
  }

  /** What this manager has asked about a container of a member. */
  lookOf(managerId: number, owned: ContainerRef): LookState | undefined {
    return this.lookRequests.stateOf(managerId, owned)
  }

  /** Reads all shares, before routes are published for the first time. @throws {StoreFailure} */
  async start(): Promise<void> {
    await this.#publisher.refresh(new Date())
  }

  /** Groups, their members, or who has an account have changed. Never rejects. */
  async refresh(): Promise<void> {
    if (this.settings.isOn) await this.#refreshes.run('all')
  }

  stop(): void {
    this.visitors.close()
    this.lookRequests.close()
  }

  async #refresh(): Promise<void> {
    await tryOrLog(this.#parts.log, 'ending looks', () => this.looks.endGroundless(new Date()))
    if (!this.#publisher.isEmpty) await this.#publish(new Date())
  }

  /** What the gateway did not confirm is sent to it again; the request has been stored. */
  async #publish(now: Date): Promise<void> {
    await tryOrLog(this.#parts.log, 'publishing shares', () => this.#publisher.refresh(now))
  }

  async #run(now: Date): Promise<Record<string, number>> {
    if (!this.settings.isOn) return {}
    await this.looks.endGroundless(now)
    await this.#publisher.refresh(now)
    await deleteEndedShares(this.#parts.database.db, now)
    return {}
  }
}
