import { setImmediate as turn } from 'node:timers/promises'
import { containerName } from '#/containers/container-name.ts'
import type { OwnedType } from '#/containers/owned-type.ts'
import type { Templates } from '#/containers/template.ts'
import type { Db } from '#/store/database.ts'
import { findOwnedRecord, listOwnedRecords, type OwnedRecord } from '#/store/records-with-owners.ts'
import { onSteadyClock, type Desired } from './plan.ts'

/** Records read from the store at a time; others get their turn in between. */
const pageSize = 500

export interface DesiredParts {
  readonly db: Db
  readonly templates: Templates
  /** Name of this installation; begins every container's name. */
  readonly instance: string
}

/** What the store says should be, of everybody. @throws when the store fails: a part of it would make the rest look like orphans */
export async function readDesired(parts: DesiredParts): Promise<Desired[]> {
  const desired: Desired[] = []
  for (let after = 0, isLast = false; !isLast;) {
    const page = await listOwnedRecords(parts.db, { limit: pageSize, after })
    for (const record of page) desired.push(toDesired(record, parts))
    isLast = page.length < pageSize
    after = page.at(-1)?.id ?? after
    // SQLite answers at once, so that without this nothing else would run until the last page.
    await turn()
  }
  return desired
}

/** As `readDesired`, of one; undefined when there is no record. */
export async function findDesired(parts: DesiredParts, { userId, type }: OwnedType): Promise<Desired | undefined> {
  const record = await findOwnedRecord(parts.db, userId, type)
  return record && toDesired(record, parts)
}

function toDesired(record: OwnedRecord, { templates, instance }: DesiredParts): Desired {
  const { id, userId, slug, type, containerId, isBlocked, wasStopped, shouldRun, lastUse } = record
  return {
    recordId: id,
    userId,
    slug,
    type,
    name: containerName(instance, slug, type),
    containerId,
    isBlocked,
    isConfigured: templates.get(type) !== undefined,
    wasStopped,
    shouldRun,
    lastUse: onSteadyClock(lastUse),
  }
}
