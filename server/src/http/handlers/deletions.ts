import type { Deleted, Deletion } from '#/administration/delete.ts'
import type { Handlers } from '#/http/handlers.ts'
import { readId } from '#/http/read-id.ts'
import { actorOf } from '#/http/session-of.ts'
import { told } from '#/http/told.ts'
import { message } from '#/messages/message.ts'

export interface DeletionParts {
  readonly deletion: Deletion
}

export function deletionHandlers({ deletion }: DeletionParts): Pick<Handlers, 'deleteUser' | 'deleteContainer'> {
  return {
    deleteUser: async (call) => {
      const id = readId(call.params.id, 'user')
      const deleted = await deletion.deleteUser(actorOf(call), id, call.query.purge === 'true', call.now)
      return { message: told(call, message('answers.userDeleted', { rest: whatIsLeft(deleted) })) }
    },
    deleteContainer: async (call) => {
      const id = readId(call.params.id, 'container')
      const deleted = await deletion.deleteContainer(actorOf(call), id, call.query.purge === 'true', call.now)
      return { message: told(call, message('answers.containerDeleted', { rest: whatIsLeft(deleted) })) }
    },
  }
}

const whatIsLeft = ({ isFinished }: Deleted) => (isFinished ? '' : message('answers.engineIsLate'))
