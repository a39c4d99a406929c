import { actorOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { SnapshotAdministration } from '#/homes/home-snapshots.ts'
import { toSnapshot } from './snapshot-handlers.ts'

type Names = 'listSnapshotsFor' | 'takeSnapshotFor' | 'restoreSnapshotFor' | 'removeSnapshotFor'

/** Snapshots of homes of all users, for the operator. */
export function operatorSnapshotHandlers(snapshots: SnapshotAdministration): Pick<Handlers, Names> {
  return {
    listSnapshotsFor: async ({ params }) => {
      const { found, hasStarterFiles } = await snapshots.list(readId(params.id, 'container'))
      return { snapshots: found.map(toSnapshot), has_starter_files: hasStarterFiles }
    },
    takeSnapshotFor: async (call) => {
      const made = await snapshots.take(actorOf(call), readId(call.params.id, 'container'), call.now)
      return { message: localizedReply(call, message('snapshots.made')), snapshot: toSnapshot(made) }
    },
    restoreSnapshotFor: async (call) => {
      const { id, snapshot } = call.params
      const [actor, only] = [actorOf(call), call.body?.path ?? '']
      const folder = await snapshots.restore(actor, readId(id, 'container'), snapshot, only, call.now)
      return { message: localizedReply(call, message('snapshots.restored', { folder })), folder }
    },
    removeSnapshotFor: async (call) => {
      const { id, snapshot } = call.params
      await snapshots.remove(actorOf(call), readId(id, 'container'), snapshot, call.now)
      return { message: localizedReply(call, message('snapshots.removed')) }
    },
  }
}
