import type { AuditEntry, AuditQuery } from '@berth/api/schemas/administration/audit.ts'
import type { FastifyReply } from 'fastify'
import type Type from 'typebox'
import type { AuditReader } from '#/admin/admin-lists.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Handlers } from './handler-types.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { AuditFilter, StoredAuditEntry } from '#/store/audit-log.ts'
import type { AuditVerification } from '#/store/verify-audit-log.ts'
import { readLimit } from './request-parameters.ts'

export interface AuditParts {
  readonly audit: AuditReader
}

/** Entries in one answer without `limit`. */
const defaultPageSize = 100

export function auditHandlers({ audit }: AuditParts): Pick<Handlers, 'listAudit' | 'verifyAudit'> {
  return {
    listAudit: async ({ query }) => {
      const limit = readLimit(query.limit, defaultPageSize)
      const before = query.cursor === undefined ? undefined : Number(query.cursor)
      const { entries, next } = await audit.list(filterOf(query), limit, before)
      return {
        entries: entries.map(toEntry),
        next_cursor: next === null ? null : String(next),
        ...(query.names === 'true' && { names: await audit.addressesIn(entries) }),
      }
    },
    verifyAudit: async ({ query, reply }) => {
      const { entries, hash, firstBroken } = await audit.verify(expectedHeadOf(query), disconnectSignal(reply))
      return { entries, head: hash, first_broken: firstBroken }
    },
  }
}

/** @throws {Refusal} 400 for an instant that does not exist */
function filterOf({ actor, action, target, since, until }: Type.Static<typeof AuditQuery>): AuditFilter {
  const isId = /^\d{1,15}$/.test(actor ?? '')
  return {
    ...(actor !== undefined && (isId ? { actorId: Number(actor) } : { actorEmail: actor })),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
  }
}

/** @throws {Refusal} 400 for `entries` without `head`, or `head` without `entries` */
function expectedHeadOf({ entries, head }: { entries?: string; head?: string }): Pick<AuditVerification, 'kept'> {
  if (entries === undefined && head === undefined) return {}
  if (entries === undefined || head === undefined) throw refusals.badRequest(message('requests.incompleteHead'))
  return { kept: { entries: Number(entries), hash: head } }
}

/** Aborted when the client closes the connection. */
function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

const toEntry = ({ at, ...entry }: StoredAuditEntry): AuditEntry => ({ ...entry, at: at.toISOString() })
