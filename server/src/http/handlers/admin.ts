import type { Blocking } from '#/administration/block.ts'
import type { ResendVerification } from '#/administration/resend-verification.ts'
import type { Rights } from '#/administration/rights.ts'
import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'
import { readId } from '#/http/read-id.ts'
import { actorOf } from '#/http/session-of.ts'
import { told } from '#/http/told.ts'
import { toAdminContainer, toAdminUser } from '#/http/wire.ts'
import { message } from '#/messages/message.ts'
import type { UserContainer } from '#/store/user-containers.ts'

export interface AdminParts {
  readonly blocking: Blocking
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
        message: told(call, message('answers.containerBlocked')),
        container: toAdminContainer(theOne(containers)),
      }
    },
    unblockContainer: async (call) => {
      const { containers } = await blocking.unblockContainers(
        actorOf(call),
        [readId(call.params.id, 'container')],
        call.now,
      )
      return {
        message: told(call, message('answers.containerUnblocked')),
        container: toAdminContainer(theOne(containers)),
      }
    },

    bulkBlockContainers: async (call) => {
      const { containers, notFound } = await blocking.blockContainers(actorOf(call), call.body.container_ids, call.now)
      return {
        message: told(call, message('answers.containersBlocked', { count: containers.length })),
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
        message: told(call, message('answers.containersUnblocked', { count: containers.length })),
        containers: containers.map(toAdminContainer),
        not_found: notFound,
      }
    },

    promoteUser: async (call) => {
      const promoted = await rights.promote(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: told(call, message('answers.promoted')), user: toAdminUser(promoted) }
    },
    demoteUser: async (call) => {
      const demoted = await rights.demote(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: told(call, message('answers.demoted')), user: toAdminUser(demoted) }
    },

    resendVerificationTo: async (call) => {
      const email = await verification.run(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: told(call, message('answers.linkSentTo', { email })) }
    },
  }
}

function theOne(containers: readonly UserContainer[]): UserContainer {
  const [container] = containers
  if (!container) throw refusals.notFound('container')
  return container
}
