import type { ContainerBlocking } from '#/administration/block-containers.ts'
import type { ResendVerification } from '#/administration/resend-verification.ts'
import type { Rights } from '#/administration/rights.ts'
import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { readId } from '#/http/handlers/read-id.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { toAdminContainer, toAdminUser } from '#/http/handlers/dto-serializers.ts'
import { message } from '#/messages/localized-message.ts'
import type { UserContainer } from '#/store/containers/user-containers.ts'

export interface AdminParts {
  readonly blocking: ContainerBlocking
  readonly rights: Rights
  readonly verification: ResendVerification
}

type Admin =
  | 'blockContainer'
  | 'unblockContainer'
  | 'bulkBlockContainers'
  | 'bulkUnblockContainers'
  | 'promoteUser'
  | 'demoteUser'
  | 'resendVerificationTo'

export function adminHandlers({ blocking, rights, verification }: AdminParts): Pick<Handlers, Admin> {
  return {
    blockContainer: async (call) => {
      const { containers } = await blocking.blockContainers(
        actorOf(call),
        [readId(call.params.id, 'container')],
        call.now,
      )
      return {
        message: localizedReply(call, message('answers.containerBlocked')),
        container: toAdminContainer(onlyContainer(containers)),
      }
    },
    unblockContainer: async (call) => {
      const { containers } = await blocking.unblockContainers(
        actorOf(call),
        [readId(call.params.id, 'container')],
        call.now,
      )
      return {
        message: localizedReply(call, message('answers.containerUnblocked')),
        container: toAdminContainer(onlyContainer(containers)),
      }
    },

    bulkBlockContainers: async (call) => {
      const { containers, notFound } = await blocking.blockContainers(actorOf(call), call.body.container_ids, call.now)
      return {
        message: localizedReply(call, message('answers.containersBlocked', { count: containers.length })),
        containers: containers.map(toAdminContainer),
        not_found: notFound,
      }
    },
    bulkUnblockContainers: async (call) => {
      const { containers, notFound } = await blocking.unblockContainers(
        actorOf(call),
        call.body.container_ids,
        call.now,
      )
      return {
        message: localizedReply(call, message('answers.containersUnblocked', { count: containers.length })),
        containers: containers.map(toAdminContainer),
        not_found: notFound,
      }
    },

    promoteUser: async (call) => {
      const promoted = await rights.promote(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: localizedReply(call, message('answers.promoted')), user: toAdminUser(promoted) }
    },
    demoteUser: async (call) => {
      const demoted = await rights.demote(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: localizedReply(call, message('answers.demoted')), user: toAdminUser(demoted) }
    },

    resendVerificationTo: async (call) => {
      const email = await verification.run(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: localizedReply(call, message('answers.linkSentTo', { email })) }
    },
  }
}

function onlyContainer(containers: readonly UserContainer[]): UserContainer {
  const [container] = containers
  if (!container) throw refusals.notFound('container')
  return container
}
