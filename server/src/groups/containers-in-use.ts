import { containerKey, type ContainerRef } from '#/store/container-key.ts'
import { listOwnedRecordsOf } from '#/store/owned-records.ts'
import type { Db } from '#/store/database.ts'
import type { Group } from '#/store/groups.ts'
import { covers } from '#/templates/group-directory.ts'

export interface ContainersInUseParts {
  readonly db: Db
  /** Containers of a user that run, are paused or are being launched. */
  readonly occupantsOf: (userId: number) => readonly ContainerRef[]
}

/**
 * Containers of these users that a stop of the group concerns: those that run, and those that should run and do not, because the
 * engine is away or has just returned. Without the latter they would be restored after the stop.
 */
export async function containersInUse(
  { db, occupantsOf }: ContainersInUseParts,
  group: Pick<Group, 'types'>,
  userIds: readonly number[],
): Promise<ContainerRef[]> {
  const byKey = new Map(
    [
      ...(await listOwnedRecordsOf(db, userIds)).filter(({ shouldRun }) => shouldRun),
      ...userIds.flatMap((id) => occupantsOf(id)),
    ].map(({ userId, type }) => [containerKey({ userId, type }), { userId, type }]),
  )
  return [...byKey.values()].filter(({ type }) => covers(group, type))
}
