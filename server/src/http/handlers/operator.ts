import type { PrintLink } from '#/accounts/print-link.ts'
import type { Stopping } from '#/administration/stop.ts'
import type { Handlers } from '#/http/handlers.ts'
import { readId } from '#/http/read-id.ts'
import { actorOf } from '#/http/session-of.ts'
import { told } from '#/http/told.ts'
import { toAdminContainer } from '#/http/wire.ts'
import { message } from '#/messages/message.ts'

export interface OperatorParts {
  readonly printLink: PrintLink
  readonly stopping: Stopping
}

/** What only the operator may do, at the server's own command line. */
export function operatorHandlers({
  printLink,
  stopping,
}: OperatorParts): Pick<Handlers, 'printLink' | 'stopContainer'> {
  return {
    printLink: async (call) => {
      const { link, purpose, expiresAt } = await printLink.print(call.body.email, actorOf(call), call.now)
      return { link, purpose, expires_at: expiresAt.toISOString() }
    },
    stopContainer: async (call) => {
      const id = readId(call.params.id, 'container')
      const { container, wasRunning } = await stopping.stopContainer(actorOf(call), id, call.now)
      const words = message(wasRunning ? 'answers.containerStopped' : 'answers.containerDidNotRun')
      return { message: told(call, words), container: toAdminContainer(container) }
    },
  }
}
