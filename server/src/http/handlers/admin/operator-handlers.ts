import type { PrintLink } from '#/accounts/links/print-link.ts'
import type { StopContainer } from '#/administration/container-stop.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { readId } from '#/http/handlers/parameters.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { toAdminContainer } from '#/http/handlers/dto-serializers.ts'
import { message } from '#/messages/localized-message.ts'

export interface OperatorParts {
  readonly printLink: PrintLink
  readonly stopping: StopContainer
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
      const { container, wasRunning } = await stopping.run(actorOf(call), id, call.now)
      const words = message(wasRunning ? 'answers.containerStopped' : 'answers.containerDidNotRun')
      return { message: localizedReply(call, words), container: toAdminContainer(container) }
    },
  }
}
