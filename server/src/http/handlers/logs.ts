import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'

export function logHandlers(): Pick<Handlers, 'containerLogs'> {
  return {
    containerLogs: () => {
      throw refusals.notFound('address')
    },
  }
}
