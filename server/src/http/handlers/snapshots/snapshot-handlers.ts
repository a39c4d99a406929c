import type { Snapshot as SnapshotDto } from '@berth/api/schemas/features/snapshots.ts'
import { userOf } from '#/http/auth/caller.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '#/messages/localized-message.ts'
import type { HomeSnapshots } from '#/snapshots/home-snapshots.ts'
import type { Snapshot } from '#/snapshots/snapshot-files.ts'

type Names = 'listSnapshots' | 'takeSnapshot' | 'restoreSnapshot' | 'resetHome' | 'removeSnapshot'

export function snapshotHandlers({ snapshots }: { readonly snapshots: HomeSnapshots }): Pick<Handlers, Names> {
  return {
    listSnapshots: async (call) => ({
      snapshots: (await snapshots.list(userOf(call), call.params.container_type)).map(toSnapshot),
    }),
    takeSnapshot: async (call) => {
      const made = await snapshots.take(userOf(call), call.params.container_type, call.now)
      return { message: localizedReply(call, message('snapshots.made')), snapshot: toSnapshot(made) }
    },
    restoreSnapshot: async (call) => {
      const { container_type: type, id } = call.params
      const folder = await snapshots.restore(userOf(call), type, id, call.body?.path ?? '', call.now)
      return { message: localizedReply(call, message('snapshots.restored', { folder })), folder }
    },
    resetHome: async (call) => {
      const made = await snapshots.reset(userOf(call), call.params.container_type, call.now)
      return { message: localizedReply(call, message('snapshots.reset')), snapshot: toSnapshot(made) }
    },
    removeSnapshot: async (call) => {
      const { container_type: type, id } = call.params
      await snapshots.remove(userOf(call), type, id)
      return { message: localizedReply(call, message('snapshots.removed')) }
    },
  }
}

const toSnapshot = ({ id, reason, createdAt, bytes }: Snapshot): SnapshotDto => ({
  id,
  reason,
  created_at: createdAt.toISOString(),
  bytes,
})
