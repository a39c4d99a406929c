import type { Snapshot as SnapshotDto } from '@berth/api/schemas/features/snapshots.ts'
import { message } from '@berth/texts/localized-message.ts'
import { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import {
  noteHomeAction,
  type FolderSize,
  type FolderSizes,
  type HomeNote,
  type Homes,
  type Snapshot,
} from '#/homes/open-homes.ts'
import { fileSafe } from '#/homes/download-tickets.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { withLongBody } from '#/http/long-body.ts'
import { contentRange, requestedRange } from '#/http/request-headers.ts'
import {
  actorOf,
  disconnectSignal,
  ownSessionOf,
  ownerOf,
  readId,
  userOf,
  type CallOrigin,
  type Handlers,
  type HandlersParts,
} from './call.ts'

/** What owners, and the operator, do with homes. */
export function homeHandlers({ database, homes }: HandlersParts) {
  const parts: HomeHandlerParts = {
    homes,
    note: (each, call, now) => {
      const acting = call.session?.claims.acting
      const detail = { ...each.detail, ...(acting ? { acting } : {}) }
      return noteHomeAction(database, { ...each, actor: ownerOf(call), detail }, now)
    },
    changes: new OwnChangeLimit(),
  }
  return {
    ...snapshotHandlers(parts),
    ...homeTransferHandlers(parts),
    ...ownHomesHandlers(parts),
    ...operatorHomeOwnerHandlers(homes),
    ...operatorSnapshotHandlers(homes),
  }
}

interface HomeHandlerParts {
  readonly homes: Homes
  /** Writes the audit entry of what an owner did. */
  readonly note: (note: Omit<HomeNote, 'actor'>, call: CallOrigin, now: Date) => Promise<void>
  readonly changes: OwnChangeLimit
}

function snapshotHandlers({ homes, note, changes }: HomeHandlerParts) {
  const { snapshots } = homes
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
  } satisfies Partial<Handlers>
}

const toSnapshot = ({ id, reason, createdAt, bytes }: Snapshot): SnapshotDto => ({
  id,
  reason,
  created_at: createdAt.toISOString(),
  bytes,
})

/** Archives out of and into one's own homes, and what takes room in them. */
function homeTransferHandlers({ homes, note, changes }: HomeHandlerParts) {
  const { downloads, uploads, folders, files } = homes
  return {
    downloadSnapshot: async (call) => {
      // The rule for all data of an account holds here, too: an administrator who acts for its owner gets no copy.
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
    listFolders: async (call) => {
      const { path = '', offset = '0' } = call.query
      return toFolders(await folders.list(userOf(call), call.params.container_type, path, Number(offset)))
    },
    downloadFile: async (call) => {
      ownSessionOf(call)
      const [owner, type, { path }] = [userOf(call), call.params.container_type, call.body]
      changes.count(owner.id)
      const ticket = files.offer(owner, type, path, call.now)
      await note({ action: 'home.read-file', owner, type, detail: { path: noted(path) } }, call, call.now)
      return { path: `/api/container/file-downloads/${ticket}` }
    },
    readFile: async (call) => {
      const { sid } = ownSessionOf(call).claims
      const { name, size, stream } = await files.begin({ userId: userOf(call).id, sid }, call.params.ticket, call.now)
      void call.reply.type('application/octet-stream').header('content-disposition', attachment(name))
      if (size !== undefined) void call.reply.header('content-length', size)
      return stream
    },
    removeFile: async (call) => {
      const [owner, type, { path }] = [userOf(call), call.params.container_type, call.query]
      changes.count(owner.id)
      await files.remove(owner, type, path)
      await note({ action: 'home.remove-file', owner, type, detail: { path: noted(path) } }, call, call.now)
      return { message: localizedReply(call, message('snapshots.fileRemoved', { path })) }
    },
  } satisfies Partial<Handlers>
}

/** Part of a path that is kept in the audit log. */
const noted = (path: string) => path.slice(0, 200)

/** Browsers take the second name, which has every character (RFC 6266, 5). */
function attachment(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${fileSafe(name)}"; filename*=UTF-8''${encoded}`
}

const toFolders = ({ bytes, files, isComplete, entries, hasMore }: FolderSizes) => ({
  bytes,
  files,
  is_complete: isComplete,
  entries: entries.map(toFolder),
  has_more: hasMore,
})

const toFolder = ({ name, kind, bytes, files }: FolderSize) => ({
  name,
  is_folder: kind === 'folder',
  kind,
  bytes,
  files,
})

/** Homes that types share, and former homes. */
function ownHomesHandlers({ homes, note, changes }: HomeHandlerParts) {
  const { ownHomes } = homes
  return {
    listOwnHomes: async (call) => ({
      homes: (await ownHomes.list(userOf(call))).map(({ id, types, isFormer, bytes }) => ({
        id,
        types: [...types],
        is_former: isFormer,
        bytes,
      })),
    }),
    downloadHome: async (call) => {
      ownSessionOf(call)
      const owner = userOf(call)
      changes.count(owner.id)
      const { ticket, home } = await ownHomes.offer(owner, call.params.id, call.now)
      await note({ action: 'home.download', owner, type: home.types[0] ?? '', detail: {} }, call, call.now)
      return { path: `/api/user/homes/downloads/${ticket}` }
    },
    readHomeDownload: async (call) => {
      const { sid } = ownSessionOf(call).claims
      const begun = await ownHomes.begin({ userId: userOf(call).id, sid }, call.params.ticket, call.now)
      void call.reply.type('application/gzip').header('content-disposition', `attachment; filename="${begun.name}"`)
      return begun.stream
    },
    removeFormerHome: async (call) => {
      ownSessionOf(call)
      const owner = userOf(call)
      changes.count(owner.id)
      const home = await ownHomes.remove(owner, call.params.id)
      await note({ action: 'home.remove-former', owner, type: home.types[0] ?? '', detail: {} }, call, call.now)
      return { message: localizedReply(call, message('snapshots.formerRemoved')) }
    },
  } satisfies Partial<Handlers>
}

/** To which account homes belong, for the operator. */
function operatorHomeOwnerHandlers({ ownerChanges }: Homes) {
  return {
    changeHomeOwnerFor: async (call) => {
      const { from, to } = call.body ?? {}
      const id = readId(call.params.id, 'container')
      const done = await ownerChanges.change(actorOf(call), id, { from, to }, disconnectSignal(call.reply), call.now)
      const { seen, changed, before, from: old } = done
      return {
        message: localizedReply(call, message('snapshots.ownerChanged', { changed, seen })),
        seen,
        changed,
        before,
        from: `${old.uid}:${old.gid}`,
        to: done.to,
      }
    },
    readHomeOwnerProgressFor: ({ params }) => {
      const progress = ownerChanges.progressOf(readId(params.id, 'container'))
      return { is_running: progress !== undefined, seen: 0, changed: 0, ...progress }
    },
  } satisfies Partial<Handlers>
}

/** Snapshots of homes of all users, for the operator. */
function operatorSnapshotHandlers({ snapshotAdministration: snapshots }: Homes) {
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
  } satisfies Partial<Handlers>
}
