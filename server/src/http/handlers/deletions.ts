import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'

export function deletionHandlers(): Pick<Handlers, 'deleteUser' | 'deleteContainer'> {
  return {
    deleteUser: () => {
      throw refusals.notFound('address')
    },
    deleteContainer: () => {
      throw refusals.notFound('address')
    },
  }
}
