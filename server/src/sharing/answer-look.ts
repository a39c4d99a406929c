import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { listSharesOf, setShare } from '#/store/container-shares.ts'
import { shareEntry } from './share-entry.ts'
import { maxShares, type Sharer } from './shares.ts'
import type { AskToLookParts } from './ask-to-look.ts'
import type { LookRequest, LookRequests } from './look-requests.ts'
import { requireLook } from './look-rights.ts'

/** How long a look lasts that was agreed to, in ms, unless the settings or the end of the group allow less. */
const lookDuration = 60 * 60_000

export interface AnswerLookParts extends AskToLookParts {
  readonly settings: AskToLookParts['settings'] & { readonly maxDuration: number }
  /** Publishes what the store says now; resolves when the gateway has confirmed it, or the failure is reported. */
  readonly publish: (now: Date) => Promise<void>
  readonly onAllowed: (until: Date) => void
}

/** A member agrees to a look that a manager asked for, or declines it. */
export class AnswerLook {
  readonly #parts: AnswerLookParts
  /** Of two answers to a request the second one finds none. */
  readonly #mutex = new KeyedMutex()

  constructor(parts: AnswerLookParts) {
    this.#parts = parts
  }

  /**
   * Shares the container with this manager alone, to look, for an hour at most. The rules are checked again: the request
   * ends where it may no longer be made. @returns the manager's address
   * @throws {Refusal} 403 switched off · 404 no such request, or it is over · 409 blocked, or too many shares
   */
  async agree(owner: Sharer, id: number, now: Date): Promise<string> {
    const manager = await this.#mutex.run(String(id), () => this.#agree(owner, id, now))
    await this.#parts.publish(now)
    return manager
  }

  /** The manager cannot ask again for a while. @throws {Refusal} 404 no such request, or it is over */
  async decline(owner: Sharer, id: number, now: Date): Promise<void> {
    await this.#mutex.run(String(id), () => this.#decline(owner, id, now))
  }

  async #agree(owner: Sharer, id: number, now: Date): Promise<string> {
    const { database, templates, settings, requests, onAllowed } = this.#parts
    if (!settings.isOn) throw refusals.sharingOff()
    const request = requests.of(owner.id, id)
    const {
      manager,
      group: { id: askedInId },
    } = request
    const target = { managerId: manager.id, groupId: askedInId, ...request.owned }
    await database.transaction(async (tx) => {
      const { recordId, group } = await requireLook(tx, templates, target, now).catch((error: unknown) => {
        throw error instanceof Refusal && error.status !== 409 ? this.#over(request) : error
      })
      const length = Math.min(lookDuration, settings.maxDuration * 1_000)
      const until = new Date(Math.min(now.getTime() + length, group.expiresAt?.getTime() ?? Infinity))
      const to = { managerId: manager.id, askedInId }
      onAllowed(until)
      await setShare(tx, { recordId, to, may: 'look', now, expiresAt: until })
      if ((await listSharesOf(tx, owner.id, target.type, now)).length > maxShares)
        throw refusals.conflict(message('sharing.tooMany', { max: maxShares }))
      const terms = {
        recordId,
        type: target.type,
        to: { email: manager.email, askedInId },
        may: 'look',
        until,
      } as const
      await insertAuditEntries(tx, [shareEntry('container.share', owner, terms, now)])
    })
    requests.remove(request)
    return manager.email
  }

  async #decline(owner: Sharer, id: number, now: Date): Promise<void> {
    const { database, requests } = this.#parts
    const request = requests.of(owner.id, id)
    const {
      manager,
      group,
      owned: { type },
    } = request
    await database.transaction((tx) =>
      insertAuditEntries(tx, [
        {
          at: now,
          actor: owner,
          action: 'group.decline-look',
          target: `group:${group.id}`,
          detail: { user: manager.id, type },
        },
      ]),
    )
    requests.decline(request)
  }

  #over(request: LookRequest): Refusal {
    this.#parts.requests.remove(request)
    return refusals.notFound('lookRequest')
  }
}

/** Ends open requests that may no longer be made, because members or groups have changed. @throws {StoreFailure} */
export async function endGroundlessRequests(
  { db }: Pick<Database, 'db'>,
  templates: AskToLookParts['templates'],
  requests: LookRequests,
  now: Date,
): Promise<void> {
  for (const request of requests.all()) {
    const target = { managerId: request.manager.id, groupId: request.group.id, ...request.owned }
    try {
      await requireLook(db, templates, target, now)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      requests.remove(request)
    }
  }
}
