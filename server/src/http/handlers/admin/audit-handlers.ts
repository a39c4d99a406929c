import type { AuditEntry, AuditQuery } from '@berth/api/schemas/audit.ts'
import type { FastifyReply } from 'fastify'
import type Type from 'typebox'
import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { message } from '#/messages/localized-message.ts'
import { listAuditEntries, type AuditFilter, type StoredAuditEntry } from '#/store/audit/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { listAddresses } from '#/store/users/user-addresses.ts'
import { verifyAuditLog, type AuditVerification } from '#/store/audit/verify-audit-log.ts'
import { readLimit } from '../parameters.ts'

/** How long a request may be busy with the log, in seconds; what does not answer sooner is taken for hanging. */
const verifyTimeout = 20

export interface AuditParts {
  readonly database: Pick<Database, 'db'>
}

export function auditHandlers({ database: { db } }: AuditParts): Pick<Handlers, 'listAudit' | 'verifyAudit'> {
  return {
    listAudit: async ({ query }) => {
      const limit = readLimit(query.limit, 100)
      const page = query.cursor === undefined ? {} : { before: Number(query.cursor) }
      // One more than asked tells whether there is a next page.
      const found = await listAuditEntries(db, { ...page, limit: limit + 1 }, filterOf(query))
      const entries = found.slice(0, limit)
      return {
        entries: entries.map(toEntry),
        next_cursor: found.length > limit ? String(entries.at(-1)?.id) : null,
        ...(query.names === 'true' && { names: await listAddresses(db, entries.flatMap(usersIn)) }),
      }
    },
    verifyAudit: async ({ query, reply }) => {
      const limit = AbortSignal.timeout(verifyTimeout * 1_000)
      const signal = AbortSignal.any([limit, disconnectSignal(reply)])
      try {
        const { entries, hash, firstBroken } = await verifyAuditLog(db, { ...expectedHeadOf(query), signal })
        return { entries, head: hash, first_broken: firstBroken }
      } catch (error) {
        // Who has gone away does not hear it.
        throw signal.aborted ? refusals.auditTooLong(verifyTimeout) : error
      }
    },
  }
}

/** @throws {Refusal} 400 for an instant that there is not */
function filterOf({ actor, action, target, since, until }: Type.Static<typeof AuditQuery>): AuditFilter {
  const isId = /^\d{1,15}$/.test(actor ?? '')
  return {
    ...(actor !== undefined && (isId ? { actorId: Number(actor) } : { actorEmail: actor })),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
    ...(since !== undefined && { since: parseInstant(since, 'since') }),
    ...(until !== undefined && { until: parseInstant(until, 'until') }),
  }
}

/** A leap second has the right form (RFC 3339, 5.7), and JavaScript knows none. */
function parseInstant(text: string, place: string): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime()))
    throw refusals.badRequest(message('requests.badQuery', { place, problem: message('requests.invalid') }))
  return at
}

/** Ids of the users whom an entry is about: the user themselves, or the owner of the container. */
function usersIn({ target, detail }: StoredAuditEntry): number[] {
  const id = /^user:(\d{1,15})$/.exec(target)?.[1] ?? detail.user
  return Number.isSafeInteger(Number(id)) ? [Number(id)] : []
}

/** @throws {Refusal} 400 for one without the other */
function expectedHeadOf({ entries, head }: { entries?: string; head?: string }): Pick<AuditVerification, 'kept'> {
  if (entries === undefined && head === undefined) return {}
  if (entries === undefined || head === undefined) throw refusals.badRequest(message('requests.incompleteHead'))
  return { kept: { entries: Number(entries), hash: head } }
}

/** Aborted when nobody waits for the answer any more. */
function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

const toEntry = ({ at, ...entry }: StoredAuditEntry): AuditEntry => ({ ...entry, at: at.toISOString() })
