import type { Events } from '#/containers/events.ts'
import { refusals } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'
import { sessionOf, userOf } from '#/http/session-of.ts'

export interface EventParts {
  readonly events: Events
}

export function eventHandlers({ events }: EventParts): Pick<Handlers, 'containerEvents'> {
  return {
    containerEvents: (call) => {
      const user = userOf(call)
      const { jti, expiresAt } = sessionOf(call).claims
      if (user.isBlocked) throw refusals.userBlocked()
      return {
        endsAt: expiresAt,
        subscribe: (listener) => {
          const unsubscribe = events.subscribe(user.id, jti, listener)
          if (!unsubscribe) throw refusals.tooManyStreams()
          return unsubscribe
        },
      }
    },
  }
}
