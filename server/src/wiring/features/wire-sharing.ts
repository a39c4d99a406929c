import { tryOrLog } from '#/concurrency/try-or-log.ts'
import type { Task } from '#/reconcile/reconciler.ts'
import { ShareAdministration } from '#/sharing/share-administration.ts'
import { SharePublisher } from '#/sharing/share-publisher.ts'
import { Shares } from '#/sharing/shares.ts'
import { deleteEndedShares } from '#/store/shares/container-shares.ts'
import type { AppParts } from '#/wiring/app-parts.ts'
import type { Containers } from '#/wiring/containers/wire-containers.ts'

/** Sharing of containers. Where the settings switch it off, it reads nothing and has no timer. */
export function wireSharing({ config, database, log }: AppParts, { routeSync, visitors }: Containers) {
  const { templates, sharing: rules } = config
  const publisher = new SharePublisher({ db: database.db, rules, routeSync })
  // What the gateway did not confirm is sent to it again; the request has been stored.
  const publish = (now: Date) => tryOrLog(log, 'publishing shares', () => publisher.refresh(now))
  const parts = {
    database,
    templates,
    rules,
    publish: async (now: Date) => void (await publish(now)),
    onEnd: (owned: { readonly userId: number; readonly type: string }) => visitors.forget(owned),
  }
  return {
    rules,
    visitors,
    shares: new Shares(parts),
    administration: new ShareAdministration(parts),
    /** Reads all shares, before routes are published for the first time. @throws {StoreFailure} */
    start: () => publisher.refresh(new Date()),
    /** Groups, their members, or who has an account have changed. Never rejects. */
    refresh: () => (publisher.isEmpty ? Promise.resolve() : publish(new Date())),
    task: sharesTask(database, publisher, rules),
  }
}

export type Sharing = ReturnType<typeof wireSharing>

/** Finds what another process has changed, and deletes what has ended. */
const sharesTask = (
  { db }: AppParts['database'],
  publisher: SharePublisher,
  { isOn }: AppParts['config']['sharing'],
): Task => ({
  name: 'shares',
  run: async (now) => {
    if (!isOn) return {}
    await publisher.refresh(now)
    await deleteEndedShares(db, now)
    return {}
  },
})
