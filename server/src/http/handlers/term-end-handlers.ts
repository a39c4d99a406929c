import { sharedHome } from '#/containers/container-name.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import type * as dto from '@berth/api/schemas/groups/term-end.ts'
import { message } from '@berth/texts/localized-message.ts'
import type {
  PreviewedMember,
  TermEndMemberPage,
  TermEndProgress,
  TermEndSums,
  TermEnds,
} from '#/groups/open-groups.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Templates } from '#/templates/template.ts'
import { actorOf, readGroupId, readLimit, type Handlers } from './call.ts'
import { defaultPageSize } from './group-handlers.ts'

/** The end of a group's term. */
export function termEndHandlers({ termEnds, preview }: TermEnds) {
  return {
    previewTermEnd: async ({ params, query, now }) => {
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const found = await preview.page(readGroupId(params.id), page, query.keep_accounts === undefined, now)
      return {
        sums: found.sums && toSums(found.sums),
        members: found.members.map(toPreviewed),
        next_cursor: cursorOf(found.next),
      }
    },
    beginTermEnd: async (call) => {
      const { keep_until, remove_at, keep_accounts = false } = call.body
      const options = {
        keepUntil: new Date(keep_until),
        removeAt: remove_at === undefined ? undefined : new Date(remove_at),
        removesAccounts: !keep_accounts,
      }
      const begun = await termEnds.begin(actorOf(call), readGroupId(call.params.id), options, call.now)
      return { term_end: toTermEnd(begun) }
    },
    readTermEnd: async ({ params }) => {
      const found = await termEnds.find(readGroupId(params.id))
      return { term_end: found && toTermEnd(found) }
    },
    listTermEndMembers: async ({ params, query }) => {
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const { members, next } = await termEnds.members(readGroupId(params.id), page)
      return { members: members.map(toMember), next_cursor: cursorOf(next) }
    },
    forgetTermEndMember: async (call) => {
      const { id, user_id: userId } = call.params
      if (!/^\d{1,15}$/.test(userId)) throw refusals.groupNotFound('member')
      await termEnds.forgetMember(actorOf(call), readGroupId(id), Number(userId), call.now)
      return { message: localizedReply(call, message('termEnd.memberForgotten')) }
    },
    cancelTermEnd: async (call) => {
      await termEnds.cancel(actorOf(call), readGroupId(call.params.id), call.now)
      return { message: localizedReply(call, message('termEnd.cancelled')) }
    },
    retryTermEnd: async (call) => ({
      term_end: toTermEnd(await termEnds.retry(actorOf(call), readGroupId(call.params.id), call.now)),
    }),
  } satisfies Partial<Handlers>
}

const cursorOf = (next: number | null) => (next === null ? null : String(next))

const toSums = ({ homesWithoutSize, freeBytes, hasRoom, ...sums }: TermEndSums): dto.TermEndSums => ({
  ...sums,
  homes_without_size: homesWithoutSize,
  free_bytes: freeBytes,
  has_room: hasRoom,
})

function toPreviewed({ user: { id, email, slug }, outcome, archives }: PreviewedMember): dto.PreviewedMember {
  const user = { id, email, slug }
  const { untouched } = outcome
  if (untouched !== null) return { user, outcome: 'untouched', reason: untouched, archives: [], keeps: [] }
  const { stays, keeps } = outcome
  const word = stays === null ? 'removed' : 'stays'
  return {
    user,
    outcome: word,
    reason: stays,
    archives: [...archives],
    keeps: keeps.filter((type) => type !== sharedHome),
  }
}

function toTermEnd({ termEnd, counts, archives }: TermEndProgress): dto.TermEnd {
  return {
    phase: termEnd.phase === 'cancelled' ? 'archiving' : termEnd.phase,
    problem: termEnd.problem,
    keep_accounts: !termEnd.removesAccounts,
    remove_at: termEnd.removeAt.toISOString(),
    keep_until: termEnd.keepUntil.toISOString(),
    started_at: termEnd.startedAt.toISOString(),
    finished_at: termEnd.finishedAt?.toISOString() ?? null,
    started_by: termEnd.actorName,
    counts,
    archives: archives.count,
    archive_bytes: archives.bytes,
  }
}

const toMember = ({
  userId,
  email,
  slug,
  state,
  problem,
  stays,
  downloads,
  archives,
}: TermEndMemberPage['members'][number]): dto.TermEndMember => ({
  user: { id: userId, email, slug },
  state,
  problem,
  removes_account: stays === null,
  archives: archives.map(({ type, bytes }) => ({ type, bytes })),
  downloads,
})

/** Archives of homes, for the holders of mailed links. */
export function archiveHandlers({ downloads }: TermEnds, templates: Templates) {
  return {
    listArchives: async ({ body, now }) => {
      const { groupName, keepUntil, archives } = await downloads.open(body.token, now)
      return {
        group: groupName,
        keep_until: keepUntil.toISOString(),
        archives: archives.map(({ type, bytes }) => ({
          type,
          // What several types share has no name of a type.
          display_name: type === sharedHome ? 'Home' : (templates.get(type)?.displayName ?? type),
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
  } satisfies Partial<Handlers>
}
