import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { ContainerShares, ShareGroup } from '@berth/gateway/port/gateway.ts'
import type { Db } from '#/store/database.ts'
import { listEffectiveShares, listMemberEmails, type ContainerShare } from '#/store/container-shares.ts'
import { isAllowed, type SharingSettings } from './shares.ts'

/** Rows in one read. */
const pageSize = 500

export interface SharePublisherParts {
  readonly db: Db
  readonly settings: SharingSettings
  readonly routeSync: Pick<RouteSync, 'publishShares'>
  /** Called with all shares after each read; must not throw. */
  readonly onRead: (shares: readonly ContainerShare[]) => void
}

/**
 * Publishes to the gateway which containers are shared with whom, so that no request asks the store. Read at the start,
 * after each change of a share or of members by this process, and at each run of the reconciler, which finds what
 * another process has changed. Where sharing is switched off, nothing is read.
 */
export class SharePublisher {
  readonly #parts: SharePublisherParts
  readonly #mutex = new KeyedMutex()
  #prefixes = new Set<string>()
  #groupIds = new Set<number>()

  constructor(parts: SharePublisherParts) {
    this.#parts = parts
  }

  /** Whether no container is shared, as far as the last read shows. */
  get isEmpty(): boolean {
    return this.#prefixes.size === 0
  }

  /**
   * Reads all shares and publishes what has changed. When it resolves, the gateway has confirmed it, and has cut what
   * is forbidden now.
   * @throws {StoreFailure}
   * @throws when the gateway fails; then what it has is not known, and is sent again
   */
  async refresh(now: Date): Promise<void> {
    if (!this.#parts.settings.isOn) return
    await this.#mutex.run('read', () => this.#read(now))
  }

  async #read(now: Date): Promise<void> {
    const shares = await this.#allShares(now)
    const groups: ShareGroup[] = []
    const groupIds = new Set(shares.flatMap(({ group }) => group?.id ?? []))
    for (const groupId of groupIds) groups.push({ groupId, emails: await this.#membersOf(groupId) })
    const byPrefix = Map.groupBy(shares, ({ owner, type }) => containerPrefix(owner.slug, type))
    const prefixes = new Set(byPrefix.keys())
    const published: ContainerShares[] = [...byPrefix].map(([prefix, all]) => grantsAt(prefix, all))
    const ended = [...this.#prefixes.difference(prefixes)].map((prefix) => ({ prefix, grants: [] }))
    const left = [...this.#groupIds.difference(groupIds)].map((groupId) => ({ groupId, emails: [] }))
    this.#prefixes = prefixes
    this.#groupIds = groupIds
    await this.#parts.routeSync.publishShares([...published, ...ended], [...groups, ...left])
    this.#parts.onRead(shares)
  }

  async #allShares(now: Date): Promise<ContainerShare[]> {
    const { db, settings } = this.#parts
    const all: ContainerShare[] = []
    for (let after = 0; ;) {
      const page = await listEffectiveShares(db, { limit: pageSize, after }, now)
      all.push(...page.filter((share) => isAllowed(share, settings)))
      if (page.length < pageSize) return all
      after = page.at(-1)?.id ?? after
    }
  }

  async #membersOf(groupId: number): Promise<string[]> {
    const emails: string[] = []
    for (let after = 0; ;) {
      const page = await listMemberEmails(this.#parts.db, groupId, { limit: pageSize, after })
      emails.push(...page.map(({ email }) => email))
      if (page.length < pageSize) return emails
      after = page.at(-1)?.id ?? after
    }
  }
}

/** Those of further ports apart: a gateway that does not know them lets no visitor in by them. */
function grantsAt(prefix: string, shares: readonly ContainerShare[]): ContainerShares {
  const ofPorts = shares.flatMap((share) => (share.port === null ? [] : [{ ...toGrant(share), port: share.port }]))
  const grants = shares.filter(({ port }) => port === null).map(toGrant)
  return { prefix, grants, ...(ofPorts.length > 0 && { portGrants: ofPorts }) }
}

const toGrant = ({ email, group, may, expiresAt, groupExpiresAt }: ContainerShare) => ({
  // The table allows only rows with one of the two.
  to: email ?? group?.id ?? 0,
  may,
  // The gateway knows the end of a group in advance: the next read comes half a minute later, or the store does not
  // answer then.
  until: Math.min(expiresAt.getTime(), groupExpiresAt?.getTime() ?? Infinity),
})
