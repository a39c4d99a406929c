import type { ApiTokens } from '#/accounts/api-tokens.ts'
import type { PrintLink } from '#/accounts/sign-up/magic-link.ts'
import type { StopContainer } from '#/admin/operator-actions.ts'
import { toCreatedApiToken } from './api-token-handlers.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { toAdminContainer } from './dto-serializers.ts'
import { message } from '@berth/texts/localized-message.ts'

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
