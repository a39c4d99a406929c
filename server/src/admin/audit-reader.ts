import { refusals } from '#/refusals/errors.ts'
import { listAuditEntries, type AuditFilter, type StoredAuditEntry } from '#/store/audit-log.ts'
import { verifyAuditLog, type AuditVerdict, type AuditVerification } from '#/store/verify-audit-log.ts'
import type { Db } from '#/store/database.ts'
import { listAddresses } from '#/store/users.ts'

/** Timeout of one verification, in seconds. */
const verifyTimeout = 20

/** A page of the audit log, newest first. */
export interface AuditPage {
  readonly entries: StoredAuditEntry[]
  /** Id before which the next page begins; null after the last page. */
  readonly next: number | null
}

/** Audit log for administrators: pages, e-mail addresses of the users in them, and verification of the hash chain. */
export class AuditReader {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** @param before id of the last entry of the page before */
  async list(filter: AuditFilter, limit: number, before?: number): Promise<AuditPage> {
    // One entry more than the limit shows whether there is a next page.
    const page = { limit: limit + 1, ...(before === undefined ? {} : { before }) }
    const found = await listAuditEntries(this.#db, page, filter)
    const entries = found.entries.slice(0, limit)
    const isMore = found.isCut || found.entries.length > limit
    return { entries, next: isMore ? (entries.at(-1)?.id ?? null) : null }
  }

  /** E-mail addresses, by id, of the users whom these entries are about and who still exist. */
  addressesIn(entries: readonly StoredAuditEntry[]): Promise<Record<string, string>> {
    return listAddresses(this.#db, entries.flatMap(usersIn))
  }

  /** @param cancelled aborted when the client is gone @throws {Refusal} 503 after 20 s, or when cancelled */
  async verify(expected: Pick<AuditVerification, 'kept'>, cancelled: AbortSignal): Promise<AuditVerdict> {
    const signal = AbortSignal.any([AbortSignal.timeout(verifyTimeout * 1_000), cancelled])
    try {
      return await verifyAuditLog(this.#db, { ...expected, signal })
    } catch (error) {
      throw signal.aborted ? refusals.auditTooLong(verifyTimeout) : error
    }
  }
}

/** Id of the user whom an entry is about: the user, or the owner of the container. */
function usersIn({ target, detail }: StoredAuditEntry): number[] {
  const id = /^user:(\d{1,15})$/.exec(target)?.[1] ?? detail.user
  return Number.isSafeInteger(Number(id)) ? [Number(id)] : []
}
