import Type from 'typebox'
import { Instant, OneOf, OrNull } from '../shapes.ts'

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
  has_starter_files: Type.Boolean({ description: 'Whether a home that is reset gets files of the template' }),
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
const Account = Type.String({ pattern: '^\\d{1,9}(:\\d{1,9})?$' })
export const HomeOwnerBody = Type.Object({
  from: Type.Optional(
    Type.String({
      pattern: '^\\d{1,9}(:\\d{1,9})?$',
      description: 'Account, as `uid` or `uid:gid`, whose files are given away; default: whose the home itself is',
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: '^\\d{1,9}(:\\d{1,9})?$',
      description:
        'Account that gets them; without a group groups stay; default: that of the program which cannot write to the home',
    }),
  ),
})
const files = { seen: Type.Integer({ description: 'Files and folders that were met' }), changed: Type.Integer() }
export const HomeOwnerResponse = Type.Object({
  message: Type.String(),
  ...files,
  before: Type.Integer({ description: 'That belonged to the new account already; the way back gives these away, too' }),
  from: Account,
  to: Account,
})
export const HomeOwnerProgress = Type.Object({ is_running: Type.Boolean(), ...files })
export const DownloadResponse = Type.Object({
  path: Type.String({ description: 'Where the archive is: for the account that asked, within an hour' }),
})
export const TicketParams = Type.Object({ ticket: Type.String() })
export const UploadResponse = Type.Object({
  message: Type.String(),
  folder: Type.String({ description: 'New folder in the home that has what was in the archive' }),
})
export const FoldersQuery = Type.Object({
  path: Type.Optional(
    Type.String({ maxLength: 4096, description: 'A folder in the home, such as `notes`; without it the home itself' }),
  ),
  offset: Type.Optional(
    Type.String({ pattern: '^\\d{1,5}$', description: 'How many of the largest entries are left out; default 0' }),
  ),
})
export const FolderSize = Type.Object({
  name: Type.String(),
  is_folder: Type.Boolean(),
  kind: OneOf(['folder', 'file', 'link', 'other'], { description: '`other`: a pipe, a socket or a device' }),
  bytes: Type.Integer({ description: 'Of the files in it together, as long as they are' }),
  files: Type.Integer({ description: 'How many that is' }),
})
export type FolderSize = Type.Static<typeof FolderSize>
export const FoldersResponse = Type.Object({
  bytes: Type.Integer({ description: 'Of the folder that was asked for' }),
  files: Type.Integer(),
  is_complete: Type.Boolean({
    description: 'False when the home could not be read to its end within the time: then there is more',
  }),
  entries: Type.Array(FolderSize, {
    description: 'What is in the folder, the largest first; at most 50, from `offset` on',
  }),
  has_more: Type.Boolean({
    description: 'There are more behind these. Of a folder with more than 2,000 entries the smallest are not told',
  }),
})
export type FoldersResponse = Type.Static<typeof FoldersResponse>

export const FileQuery = Type.Object({
  path: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'A file or folder in the home, such as `notes/a.txt`',
  }),
})
export const FileBody = FileQuery
export const FileDownloadResponse = Type.Object({
  path: Type.String({ description: 'Where it is: once, for the account that asked, within ten minutes' }),
})

/** Of the operator: the number of a container's record, and a snapshot of its home. */
export const OperatorSnapshotParams = Type.Object({ id: Type.String(), snapshot: Type.String() })

/** A home that several types of a person share, or that no type has any more. */
export const OwnHome = Type.Object({
  id: Type.String(),
  types: Type.Array(Type.String(), {
    description: 'Types whose containers have it; of a former home the one that had it',
  }),
  is_former: Type.Boolean({ description: 'No type has it any more: it can be removed' }),
  bytes: OrNull(Type.Integer(), { description: 'At the last measurement; null: not known' }),
})
export type OwnHome = Type.Static<typeof OwnHome>
export const OwnHomesResponse = Type.Object({ homes: Type.Array(OwnHome) })
export type OwnHomesResponse = Type.Static<typeof OwnHomesResponse>
export const HomeParams = Type.Object({ id: Type.String() })
