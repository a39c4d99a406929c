import type { OlderContainer } from '#/administration/templates/template-versions.ts'
import type { IdleSuspension } from '#/containers/idle/idle-suspension.ts'
import type { Spawner } from '#/containers/launch/spawner.ts'
import type { RouteSync } from '#/containers/routing/route-sync.ts'
import type { Templates } from '#/containers/templates/template.ts'
import type { Db } from '#/store/database.ts'
import { findUser } from '#/store/users/users.ts'

export interface ReplaceOlderParts {
  readonly db: Db
  readonly templates: Pick<Templates, 'get'>
  readonly routeSync: Pick<RouteSync, 'get'>
  readonly idleSuspension: Pick<IdleSuspension, 'stopNow'>
  readonly spawner: Pick<Spawner, 'replace'>
}

/**
 * Replaces a container of an older version of its template. One that its owner or idleness has stopped since it was listed stays
 * stopped, and gets the new version with its next start. @throws as `Spawner.replace`, and as `IdleSuspension.stopNow`
 */
export async function replaceOlder(
  { db, templates, routeSync, idleSuspension, spawner }: ReplaceOlderParts,
  type: string,
  { userId }: Pick<OlderContainer, 'userId'>,
): Promise<void> {
  const [user, template] = [await findUser(db, userId), templates.get(type)]
  const seen = routeSync.get({ userId, type })?.seen
  if (!user || !template || !seen || seen === 'gone') return
  // A paused container is not in use: its owner's next request starts the new version.
  if (seen.state === 'paused') await idleSuspension.stopNow({ userId, type })
  else if (seen.state === 'running') await spawner.replace(user, template, new Date())
}
