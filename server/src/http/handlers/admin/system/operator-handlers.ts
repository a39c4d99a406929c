import type { ApiTokens } from '#/accounts/api-tokens/api-tokens.ts'
import type { PrintLink } from '#/accounts/links/print-link.ts'
import type { StopContainer } from '#/administration/blocking/container-stop.ts'
import { toCreatedApiToken } from '#/http/handlers/account/api-token-handlers.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { readId } from '#/http/handlers/request-parameters.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { toAdminContainer } from '#/http/handlers/dto-serializers.ts'
import { message } from '#/messages/localized-message.ts'

export interface OperatorParts {
  readonly printLink: PrintLink
  readonly apiTokens: ApiTokens
  readonly stopping: StopContainer
}

/** Endpoints of the operator alone, at the server's own command line. */
export function operatorHandlers({
  printLink,
  apiTokens,
  stopping,
}: OperatorParts): Pick<Handlers, 'printLink' | 'createApiTokenFor' | 'stopContainer'> {
  return {
    printLink: async (call) => {
      const { link, purpose, expiresAt } = await printLink.print(call.body.email, actorOf(call), call.now)
      return { link, purpose, expires_at: expiresAt.toISOString() }
    },
    createApiTokenFor: async (call) => {
      const { email, name, scopes, expires_in: expiresIn } = call.body
      const request = { name, scopes, expiresIn }
      return toCreatedApiToken(await apiTokens.createFor(actorOf(call), email, request, call.now))
    },
    stopContainer: async (call) => {
      const id = readId(call.params.id, 'container')
      const { container, wasRunning } = await stopping.run(actorOf(call), id, call.now)
      const words = message(wasRunning ? 'answers.containerStopped' : 'answers.containerDidNotRun')
      return { message: localizedReply(call, words), container: toAdminContainer(container) }
    },
  }
}
