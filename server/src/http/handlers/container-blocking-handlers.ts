import type { ContainerBlocking } from '#/admin/blocking.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { toAdminContainer } from './dto-serializers.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface ContainerBlockingParts {
  readonly blocking: ContainerBlocking
}

type Blocking = 'blockContainer' | 'unblockContainer' | 'bulkBlockContainers' | 'bulkUnblockContainers'

/** Blocking containers, one or several. */
export function containerBlockingHandlers({ blocking }: ContainerBlockingParts): Pick<Handlers, Blocking> {
  return {
    blockContainer: async (call) => {
      const container = await blocking.blockContainer(actorOf(call), readId(call.params.id, 'container'), call.now)
      return {
        message: localizedReply(call, message('answers.containerBlocked')),
        container: toAdminContainer(container),
      }
    },
    unblockContainer: async (call) => {
      const container = await blocking.unblockContainer(actorOf(call), readId(call.params.id, 'container'), call.now)
      return {
        message: localizedReply(call, message('answers.containerUnblocked')),
        container: toAdminContainer(container),
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
  }
}
