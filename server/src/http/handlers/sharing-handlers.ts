import type { AdminShare, Share, SharedContainer } from '@berth/api/schemas/features/sharing.ts'
import { segmentOf } from '@berth/gateway/basics/container-port.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { Templates } from '#/templates/template.ts'
import { actorOf, ownSessionOf, ownerOf, readId, readLimit, userOf, type Handlers, type HandlersParts } from './call.ts'
import { openPathOf } from './dto-serializers.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Sharing } from '#/sharing/open-sharing.ts'
import type { ContainerShare } from '#/store/container-shares.ts'

/** Shares in one answer without `limit`. */
const defaultPageSize = 100

interface SharedListParts {
  readonly templates: Pick<Templates, 'get'>
  readonly spawnerUrl: string
  /** Whether each container has an origin of its own, so that pages for visitors need no sandbox. */
  readonly hasContainerHosts: boolean
}

/** `GET /api/user/shared`. */
export const listSharedHandler =
  (parts: SharedListParts, sharedWith: Sharing['shares']['sharedWith']): Handlers['listSharedContainers'] =>
  async (call) => {
    const { id, email } = userOf(call)
    const shared = await sharedWith({ id, email }, call.now)
    return { containers: shared.map((share) => toSharedContainer(parts, share)) }
  }

export function sharingHandlers({ config, addresses, sharing }: HandlersParts) {
  const { shares, administration, visitors } = sharing
  const { templates, containerRouting } = config
  const parts = { templates, spawnerUrl: addresses.spawnerUrl, hasContainerHosts: containerRouting === 'subdomain' }
  return {
    listShares: async (call) => {
      const { id: userId } = userOf(call)
      const type = call.params.container_type
      const own = await shares.list(userId, type, call.now)
      const present = visitors.of({ userId, type })
      return {
        shares: own.map(toShare),
        visitors: present.map(({ email, since }) => ({ email, since: since.toISOString() })),
        ...singlePagesOnly(parts, type),
      }
    },
    shareContainer: async (call) => {
      // An administrator who acts for the owner could let himself in for longer than the takeover lasts.
      ownSessionOf(call)
      const { emails = [], group_id: groupId, may, expires_at: until, port = null } = call.body
      const request = { emails, groupId, may, until: new Date(until), port }
      await shares.share(ownerOf(call), call.params.container_type, request, call.now)
      return { message: localizedReply(call, message('sharing.shared')) }
    },
    endShare: async (call) => {
      ownSessionOf(call)
      const { container_type: type, id } = call.params
      await shares.end(ownerOf(call), type, readId(id, 'share'), call.now)
      return { message: localizedReply(call, message('sharing.ended')) }
    },
    listSharedContainers: listSharedHandler(parts, (visitor, now) => shares.sharedWith(visitor, now)),

    listAllShares: async ({ query, now }) => {
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const { shares: found, next } = await administration.list(query.user, page, now)
      return { shares: found.map(toAdminShare), next_cursor: next === null ? null : String(next) }
    },
    revokeShare: async (call) => {
      await administration.end(actorOf(call), readId(call.params.id, 'share'), call.now)
      return { message: localizedReply(call, message('sharing.ended')) }
    },
  } satisfies Partial<Handlers>
}

const toShare = ({ id, type, email, group, askedIn, may, port, createdAt, expiresAt }: ContainerShare): Share => ({
  id,
  container_type: type,
  email,
  group,
  asked_in: askedIn && { id: askedIn.id, name: askedIn.name },
  may,
  port,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
})

const toAdminShare = (share: ContainerShare): AdminShare => ({
  ...toShare(share),
  owner: { id: share.owner.id, email: share.owner.email },
})

function toSharedContainer(
  parts: SharedListParts,
  { id, owner, type, group, may, port, expiresAt }: ContainerShare,
): SharedContainer {
  const template = parts.templates.get(type)
  return {
    id,
    owner: owner.email,
    container_type: type,
    display_name: template?.displayName ?? type,
    group,
    may,
    port,
    expires_at: expiresAt.toISOString(),
    service_url: `${parts.spawnerUrl}/${segmentOf(containerPrefix(owner.slug, type), port ?? undefined)}`,
    ...(template && port === null && openPathOf(template)),
    ...singlePagesOnly(parts, type),
  }
}

/** Whether visitors get a page without what it loads from the container. */
const singlePagesOnly = ({ templates, hasContainerHosts }: SharedListParts, type: string) =>
  !hasContainerHosts && templates.get(type)?.sandboxVisitors === true ? { single_pages_only: true as const } : {}
