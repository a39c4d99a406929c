import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { containerName } from '#/containers/container-name.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import type { Db } from '#/store/database.ts'
import { findOwnedRecord, listOwnedRecords, listOwnedRecordsOf, type OwnedRecord } from '#/store/owned-records.ts'
import type { EngineListing } from './engine-list.ts'
import { onSteadyClock, type Desired } from './plan.ts'

/** Records per page; other work runs in between. */
const pageSize = 500

export interface DesiredParts {
  readonly db: Db
  readonly templates: Templates
  /** Name of this installation; begins every container's name. */
  readonly installation: string
}

/**
 * Reads the desired state: of all records with a container, or only of those that should run, and of every observed
 * container. Records without a container, of which the engine has none either, are left out, however many there are.
 * @throws when the store fails: with a part of it the rest would look like orphans
 */
export async function readDesired(
  parts: DesiredParts,
  { containers, isFull }: Pick<EngineListing, 'containers' | 'isFull'>,
): Promise<Desired[]> {
  const desired = new Map<string, Desired>()
  const take = (records: readonly OwnedRecord[]) => {
    for (const record of records) desired.set(containerKey(record), toDesired(record, parts))
  }
  for (let after = 0, isLast = false; !isLast;) {
    const page = { limit: pageSize, after }
    const records = await listOwnedRecords(parts.db, isFull ? 'with a container' : 'should run', page)
    take(records)
    isLast = records.length < pageSize
    after = records.at(-1)?.id ?? after
    // SQLite answers synchronously; without this nothing else would run until the last page.
    await yieldToEvents()
  }
  const others = containers.flatMap(({ owner }) => (owner && !desired.has(containerKey(owner)) ? [owner] : []))
  const wanted = new Set(others.map(containerKey))
  const userIds = [...new Set(others.map(({ userId }) => userId))]
  const found = await listOwnedRecordsOf(parts.db, userIds)
  take(found.filter((record) => wanted.has(containerKey(record))))
  return [...desired.values()]
}

/** The desired state of one record; undefined when there is none. */
export async function findDesired(parts: DesiredParts, { userId, type }: ContainerRef): Promise<Desired | undefined> {
  const record = await findOwnedRecord(parts.db, userId, type)
  return record && toDesired(record, parts)
}

function toDesired(record: OwnedRecord, { templates, installation }: DesiredParts): Desired {
  const { id, userId, slug, type, containerId, isBlocked, shouldRun, lastUse } = record
  return {
    recordId: id,
    userId,
    slug,
    type,
    name: containerName(installation, slug, type),
    containerId,
    isBlocked,
    isConfigured: templates.get(type) !== undefined,
    shouldRun,
    lastUse: onSteadyClock(lastUse),
  }
}
