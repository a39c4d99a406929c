import { endpoint, type Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import { GroupParams, MemberParams } from '../../schemas/groups.ts'
import * as termEnd from '../../schemas/groups/term-end.ts'
import { Message } from '../../schemas/shapes.ts'

const path = '/api/admin/groups/{id}/term-end'

/** The end of a group's term, for administrators; and archives of homes, for the holders of mailed links. */
export const termEndEndpoints = {
  previewTermEnd: endpoint(`GET ${path}/preview`, 'admin:read', {
    params: GroupParams,
    summary: 'What the end of the term of a group will do, page by page; changes nothing',
    query: termEnd.TermEndPreviewQuery,
    response: termEnd.TermEndPreviewResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody, 500: ErrorBody },
  }),
  beginTermEnd: endpoint(`POST ${path}`, 'admin:write', {
    params: GroupParams,
    summary:
      'End the term of a group: end it now, archive homes, mail links to the archives, then remove containers, homes, and accounts that are in nothing else',
    body: termEnd.TermEndBody,
    response: termEnd.TermEndResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody, 500: ErrorBody },
  }),
  readTermEnd: endpoint(`GET ${path}`, 'admin:read', {
    params: GroupParams,
    summary: 'How far the end of the term of a group is',
    response: termEnd.TermEndResponse,
    refusals: { 404: ErrorBody },
  }),
  listTermEndMembers: endpoint(`GET ${path}/members`, 'admin:read', {
    params: GroupParams,
    summary: 'Members whom the end of the term of a group concerns, page by page',
    query: termEnd.TermEndMembersQuery,
    response: termEnd.TermEndMembersResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody },
  }),
  forgetTermEndMember: endpoint(`DELETE ${path}/members/{user_id}`, 'admin:write', {
    summary:
      'Delete the archives of a member before their date, with address and links, once the end of term is over for them',
    params: MemberParams,
    response: Message,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  }),
  cancelTermEnd: endpoint(`POST ${path}/cancel`, 'admin:write', {
    params: GroupParams,
    summary: 'Cancel the end of the term of a group before anything is removed; its archives are deleted',
    response: Message,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  }),
  retryTermEnd: endpoint(`POST ${path}/retry`, 'admin:write', {
    params: GroupParams,
    summary: 'Go on with an end of term where it failed, under the rights of the caller',
    response: termEnd.TermEndResponse,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  }),
  listArchives: endpoint('POST /api/archives', 'public', {
    summary: 'Archives of the holder of a mailed link; downloads nothing',
    body: termEnd.ArchivesBody,
    response: termEnd.ArchivesResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 429: ErrorBody },
  }),
  beginArchiveDownload: endpoint('POST /api/archives/download', 'public', {
    summary: 'Begin the download of an archive by the holder of a mailed link',
    body: termEnd.DownloadArchiveBody,
    response: termEnd.DownloadArchiveResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 429: ErrorBody },
  }),
  downloadArchive: endpoint('GET /api/archives/{ticket}', 'public', {
    summary: 'An archive of a home, once for each download that was begun',
    params: termEnd.ArchiveParams,
    file: 'application/gzip',
    refusals: { 404: ErrorBody, 429: ErrorBody },
    head: false,
  }),
} as const satisfies Record<string, Endpoint>
