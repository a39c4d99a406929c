import type { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import { ownSessionOf, userOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { contentRange, requestedRange } from '#/http/requested-range.ts'
import { withLongBody } from '#/http/long-body.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { FolderSize, FolderSizes, HomeFolders } from '#/homes/home-folders.ts'
import type { HomeDownloads } from '#/homes/home-downloads.ts'
import type { HomeUploads } from '#/homes/home-uploads.ts'
import type { NoteHome } from './snapshot-handlers.ts'

export interface HomeTransferHandlerParts {
  readonly downloads: HomeDownloads
  readonly uploads: HomeUploads
  readonly folders: HomeFolders
  readonly note: NoteHome
  readonly changes: Pick<OwnChangeLimit, 'count'>
}

type Names = 'downloadSnapshot' | 'readDownload' | 'uploadHome' | 'listFolders'

/** Archives out of and into one's own homes, and what takes room in them. */
export function homeTransferHandlers({
  downloads,
  uploads,
  folders,
  note,
  changes,
}: HomeTransferHandlerParts): Pick<Handlers, Names> {
  return {
    downloadSnapshot: async (call) => {
      // As with all data of an account: an administrator who acts for its owner gets no copy.
      ownSessionOf(call)
      const [owner, { container_type: type, id }] = [userOf(call), call.params]
      changes.count(owner.id)
      const ticket = await downloads.offer(owner, type, id, call.now)
      await note({ action: 'home.download', owner, type, detail: { snapshot: id } }, call, call.now)
      return { path: `/api/container/downloads/${ticket}` }
    },
    readDownload: async (call) => {
      const { sid } = ownSessionOf(call).claims
      const { reply, request, params, now } = call
      const download = await downloads.begin(
        { userId: userOf(call).id, sid },
        params.ticket,
        (file) => requestedRange(request, file),
        now,
      )
      const { name, size, etag, part, stream } = download
      void reply.type('application/gzip').headers({
        'accept-ranges': 'bytes',
        etag,
        'content-disposition': `attachment; filename="${name}"`,
        'content-length': part ? part.last - part.first + 1 : size,
      })
      if (part) void reply.status(206).header('content-range', contentRange(part, size))
      return stream
    },
    uploadHome: async (call) => {
      const [owner, type] = [userOf(call), call.params.container_type]
      changes.count(owner.id)
      const folder = await withLongBody(call.request.raw, (body) => uploads.receive(owner, type, body, call.now))
      await note({ action: 'home.upload', owner, type, detail: { folder } }, call, call.now)
      return { message: localizedReply(call, message('snapshots.uploaded', { folder })), folder }
    },
    listFolders: async (call) =>
      toFolders(await folders.list(userOf(call), call.params.container_type, call.query.path ?? '')),
  }
}

const toFolders = ({ bytes, files, isComplete, entries }: FolderSizes) => ({
  bytes,
  files,
  is_complete: isComplete,
  entries: entries.map(toFolder),
})

const toFolder = ({ name, isFolder, bytes, files }: FolderSize) => ({ name, is_folder: isFolder, bytes, files })
