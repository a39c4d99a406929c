import type { Takeover } from '#/administration/takeover.ts'
import type { Templates } from '#/containers/template.ts'
import { refusals } from '#/errors.ts'
import { authResponse } from '#/http/auth-response.ts'
import type { Handlers } from '#/http/handlers.ts'
import { readId } from '#/http/read-id.ts'
import { actorOf } from '#/http/session-of.ts'
import type { Database } from '#/store/database.ts'

export interface TakeoverParts {
  readonly database: Database
  readonly templates: Templates
  readonly takeover: Takeover
}

export function takeoverHandlers(parts: TakeoverParts): Pick<Handlers, 'takeOver'> {
  return {
    // No cookie: the administrator stays themselves in their browser.
    takeOver: async (call) => {
      const reason = call.body.reason.trim()
      if (reason === '') throw refusals.badRequest('The reason is missing: the owner is going to read it.')
      const { browser } = call.requester
      const id = readId(call.params.id, 'user')
      return authResponse(parts, await parts.takeover.begin(actorOf(call), id, { reason, browser, now: call.now }))
    },
  }
}
