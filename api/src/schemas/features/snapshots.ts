import Type from 'typebox'
import { Instant, OneOf } from '../shapes.ts'

export const Snapshot = Type.Object({
  id: Type.String(),
  reason: OneOf(['manual', 'image', 'reset'], {
    description:
      '`manual`: the owner asked for it; `image`: the container was about to get another image; `reset`: the home was reset to the starter files',
  }),
  created_at: Instant,
  bytes: Type.Integer({ description: 'Of the compressed archive' }),
})
export type Snapshot = Type.Static<typeof Snapshot>

/** Any text: an unknown type is 400, an unknown snapshot 404. */
export const SnapshotParams = Type.Object({ container_type: Type.String(), id: Type.String() })
export const SnapshotsResponse = Type.Object({
  snapshots: Type.Array(Snapshot, { description: 'Newest first' }),
})
export const SnapshotResponse = Type.Object({ message: Type.String(), snapshot: Snapshot })
export const RestoreBody = Type.Object({
  path: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'A folder or file in the home, such as `notes/2026`; without it everything is restored',
    }),
  ),
})
export const RestoreResponse = Type.Object({
  message: Type.String(),
  folder: Type.String({ description: 'New folder in the home that has what was restored' }),
})
