import { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import { Coalescer } from '#/machine/single-flight.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import { ShareAdministration, Shares, isShareable } from '#/sharing/shares.ts'
import { SharePublisher } from '#/sharing/share-publisher.ts'
import { AnswerLook, AskToLook, GroundlessLooks, endGroundlessRequests } from '#/sharing/looks.ts'
import type { Template } from '#/templates/template.ts'
import { deleteEndedShares } from '#/store/container-shares.ts'
import type { AppParts } from './app-parts.ts'
import type { Containers } from './wire-containers.ts'

/** Sharing of containers. Where the settings switch it off, it reads nothing and has no timer. */
export function wireSharing({ config, database, log }: AppParts, { routeSync, visitors, lookRequests }: Containers) {
  const { templates, sharing: settings } = config
  const publisher = new SharePublisher({
    db: database.db,
    settings,
    routeSync,
    onRead: (shares) => lookRequests.setLooks(shares),
  })
  // What the gateway did not confirm is sent to it again; the request has been stored.
  const publish = (now: Date) => tryOrLog(log, 'publishing shares', () => publisher.refresh(now))
  const parts = {
    database,
    templates,
    settings,
    changes: new OwnChangeLimit(),
    publish: async (now: Date) => void (await publish(now)),
    onEnd: (owned: { readonly userId: number; readonly type: string }) => visitors.forget(owned),
  }
  const groundless = new GroundlessLooks(database.db)
  const lookParts = { ...parts, requests: lookRequests, onAllowed: (until: Date) => groundless.note(until) }
  /** Looks and requests whose reason is over end for good. */
  const endGroundless = async (now: Date) => {
    await endGroundlessRequests(database, templates, lookRequests, now)
    await groundless.delete(now)
  }
  // A class that joins by its code causes two reads of all shares, not thirty.
  const refreshes = new Coalescer(async () => {
    await tryOrLog(log, 'ending looks', () => endGroundless(new Date()))
    if (!publisher.isEmpty) await publish(new Date())
  })
  return {
    settings,
    askToLook: new AskToLook(lookParts),
    answerLook: new AnswerLook(lookParts),
    isLookable: (template: Template) => settings.isOn && isShareable(template),
    visitors,
    shares: new Shares(parts),
    administration: new ShareAdministration(parts),
    /** Reads all shares, before routes are published for the first time. @throws {StoreFailure} */
    start: () => publisher.refresh(new Date()),
    /** Groups, their members, or who has an account have changed. Never rejects. */
    refresh: async () => {
      if (settings.isOn) await refreshes.run('all')
    },
    task: sharesTask(database, publisher, settings, endGroundless),
  }
}

export type Sharing = ReturnType<typeof wireSharing>

/** Finds what another process has changed, and deletes what has ended. */
const sharesTask = (
  { db }: AppParts['database'],
  publisher: SharePublisher,
  { isOn }: AppParts['config']['sharing'],
  endGroundless: (now: Date) => Promise<void>,
): Task => ({
  name: 'shares',
  run: async (now) => {
    if (!isOn) return {}
    await endGroundless(now)
    await publisher.refresh(now)
    await deleteEndedShares(db, now)
    return {}
  },
})
