import { endpoints } from '@berth/api/endpoints.ts'
import type { Templates } from '#/templates/template.ts'
import type { Handlers } from './handler-types.ts'
import type { ArchiveDownloads } from '#/groups/term-end/archive-downloads.ts'

type Names = 'listArchives' | 'beginArchiveDownload' | 'downloadArchive'

export interface ArchiveHandlersParts {
  readonly downloads: ArchiveDownloads
  readonly templates: Pick<Templates, 'get'>
}

/** Archives of homes, for the holders of mailed links. */
export function archiveHandlers({ downloads, templates }: ArchiveHandlersParts): Pick<Handlers, Names> {
  return {
    listArchives: async ({ body, now }) => {
      const { groupName, keepUntil, archives } = await downloads.open(body.token, now)
      return {
        group: groupName,
        keep_until: keepUntil.toISOString(),
        archives: archives.map(({ type, bytes }) => ({
          type,
          display_name: templates.get(type)?.displayName ?? type,
          bytes,
        })),
      }
    },
    beginArchiveDownload: async ({ body, client, now }) => {
      const ticket = await downloads.begin(body.token, body.type, client, now)
      return { path: endpoints.downloadArchive.path.replace('{ticket}', ticket) }
    },
    downloadArchive: async ({ params, reply, now }) => {
      const { content, bytes, name } = await downloads.read(params.ticket, now)
      void reply.headers({
        'content-type': endpoints.downloadArchive.file,
        'content-length': String(bytes),
        'content-disposition': `attachment; filename="${name}"`,
      })
      return content
    },
  }
}
