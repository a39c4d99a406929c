import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'

export function systemReportHandlers(): Pick<Handlers, 'systemReport'> {
  return {
    systemReport: () => {
      throw refusals.notFound('address')
    },
  }
}
