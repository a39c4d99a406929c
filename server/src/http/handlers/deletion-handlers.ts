import type { Deleted, Deletion } from '#/admin/deletion.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface DeletionParts {
  readonly deletion: Deletion
}

export function deletionHandlers({ deletion }: DeletionParts): Pick<Handlers, 'deleteUser' | 'deleteContainer'> {
  return {
    deleteUser: async (call) => {
      const id = readId(call.params.id, 'user')
      const deleted = await deletion.deleteUser(actorOf(call), id, call.query.purge === 'true', call.now)
      return { message: localizedReply(call, message('answers.userDeleted', { rest: whatIsLeft(deleted) })) }
    },
    deleteContainer: async (call) => {
      const id = readId(call.params.id, 'container')
      const deleted = await deletion.deleteContainer(actorOf(call), id, call.query.purge === 'true', call.now)
      return { message: localizedReply(call, message('answers.containerDeleted', { rest: whatIsLeft(deleted) })) }
    },
  }
}

const whatIsLeft = ({ isFinished }: Deleted) => (isFinished ? '' : message('answers.engineIsLate'))
