import type { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import type { Snapshot as SnapshotDto } from '@berth/api/schemas/features/snapshots.ts'
import { userOf, type CallOrigin } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { HomeNote } from '#/homes/home-access.ts'
import type { HomeSnapshots } from '#/homes/home-snapshots.ts'
import type { Snapshot } from '#/homes/snapshot-files.ts'

interface SnapshotHandlerParts {
  readonly snapshots: HomeSnapshots
  readonly note: NoteHome
  readonly changes: Pick<OwnChangeLimit, 'count'>
}

/** Writes the audit entry of what an owner did. */
export type NoteHome = (note: Omit<HomeNote, 'actor'>, call: CallOrigin, now: Date) => Promise<void>

type Names = 'listSnapshots' | 'takeSnapshot' | 'restoreSnapshot' | 'resetHome' | 'removeSnapshot'

export function snapshotHandlers({ snapshots, note, changes }: SnapshotHandlerParts): Pick<Handlers, Names> {
  return {
    listSnapshots: async (call) => ({
      snapshots: (await snapshots.list(userOf(call), call.params.container_type)).map(toSnapshot),
      has_starter_files: snapshots.hasStarterFiles(call.params.container_type),
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
      const [owner, type] = [userOf(call), call.params.container_type]
      changes.count(owner.id)
      const noteReset = (detail: NonNullable<HomeNote['detail']>) =>
        note({ action: 'home.reset', owner, type, detail }, call, call.now)
      const made = await snapshots.reset(owner, type, call.now, ({ id }) => noteReset({ snapshot: id, unfinished: 1 }))
      await noteReset({ snapshot: made.id })
      return { message: localizedReply(call, message('snapshots.reset')), snapshot: toSnapshot(made) }
    },
    removeSnapshot: async (call) => {
      const { container_type: type, id } = call.params
      await snapshots.remove(userOf(call), type, id)
      return { message: localizedReply(call, message('snapshots.removed')) }
    },
  }
}

export const toSnapshot = ({ id, reason, createdAt, bytes }: Snapshot): SnapshotDto => ({
  id,
  reason,
  created_at: createdAt.toISOString(),
  bytes,
})
