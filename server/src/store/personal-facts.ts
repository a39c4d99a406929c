import { createHash, randomBytes } from 'node:crypto'
import { deleteInBatches, type Db } from './database.ts'

/**
 * Personal facts of audit entries: network addresses, and e-mail addresses of accounts that were deleted or invited.
 * The hash chain covers a salted hash of them, the seal; the facts lie beside it and are deleted after a while. Until
 * then `verify` compares them with the seal; afterwards the chain is as it was, and nothing can be guessed from the
 * seal, because the salt is gone, too (commitment).
 */

type Facts = Readonly<Record<string, unknown>>

/** Key of the seal in the detail of an entry. */
export const sealKey = 'sealed'

export interface SealedFacts {
  /** For the entry. */
  readonly seal: string
  readonly salt: string
  /** JSON text. */
  readonly facts: string
}

/** @param facts what is undefined is left out @returns undefined when nothing is left */
export function sealFacts(facts: Facts): SealedFacts | undefined {
  const text = JSON.stringify(facts)
  if (text === '{}') return undefined
  const salt = randomBytes(16).toString('base64url')
  return { seal: sealOf(salt, text), salt, facts: text }
}

const sealOf = (salt: string, facts: string) => createHash('sha256').update(`${salt}\n${facts}`).digest('base64url')

/** A stored row. */
export interface PersonalFacts {
  readonly salt: string
  readonly facts: string
}

/** A row to be stored. */
export interface NewPersonalFacts extends PersonalFacts {
  readonly position: number
  readonly at: number
}

/**
 * Stores facts of new entries. Facts of an entry that was removed by hand give way: a change must not fail for them.
 */
export async function insertPersonalFacts(tx: Db, facts: readonly NewPersonalFacts[]): Promise<void> {
  if (facts.length === 0) return
  await tx
    .insertInto('audit_personal_facts')
    .values(facts)
    .onConflict((conflict) =>
      conflict.column('position').doUpdateSet(({ ref }) => ({
        at: ref('excluded.at'),
        salt: ref('excluded.salt'),
        facts: ref('excluded.facts'),
      })),
    )
    .execute()
}

/** Facts of these entries that are still there, by position. */
export async function personalFactsOf(
  db: Db,
  positions: readonly number[],
): Promise<ReadonlyMap<number, PersonalFacts>> {
  if (positions.length === 0) return new Map()
  const rows = await db
    .selectFrom('audit_personal_facts')
    .select(['position', 'salt', 'facts'])
    .where('position', 'in', positions)
    .execute()
  return new Map(rows.map(({ position, ...facts }) => [position, facts]))
}

/** Whether stored facts are those that the entry was sealed with. @param detail of the entry, JSON text */
export function areSealed({ salt, facts }: PersonalFacts, detail: string): boolean {
  try {
    return (Object(JSON.parse(detail)) as Facts)[sealKey] === sealOf(salt, facts)
  } catch {
    return false
  }
}

/** The detail as it was written: with the facts that are still there, and without the seal. */
export function withPersonalFacts(detail: Facts, stored: PersonalFacts | undefined): Facts {
  const { [sealKey]: _, ...rest } = detail
  if (!stored) return rest
  const facts = parse(stored.facts)
  const before = facts.before === undefined ? rest.before : { ...Object(rest.before), ...Object(facts.before) }
  return { ...rest, ...facts, ...(before === undefined ? {} : { before }) }
}

/** What was changed by hand must not make an entry unreadable; verification reports it. */
function parse(text: string): Facts {
  try {
    return Object(JSON.parse(text)) as Facts
  } catch {
    return {}
  }
}

/** Deletes facts of entries from before; of very many some are left for the next call. */
export async function deleteOldPersonalFacts(db: Db, before: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const old = db.selectFrom('audit_personal_facts').select('position').where('at', '<', before.getTime()).limit(limit)
    const { numDeletedRows } = await db
      .deleteFrom('audit_personal_facts')
      .where('position', 'in', old)
      .executeTakeFirstOrThrow()
    return numDeletedRows
  })
}
