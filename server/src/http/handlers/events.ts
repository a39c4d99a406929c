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
      const lastId = call.request.headers['last-event-id']?.toString()
      if (user.isBlocked) throw refusals.userBlocked()
      return {
        endsAt: expiresAt,
        begin: (sink) => {
          const listener = { onEvents: sink.send, onEnd: sink.end }
          const unsubscribe = events.subscribe({ userId: user.id, jti }, listener, lastId)
          if (!unsubscribe) throw refusals.tooManyStreams()
          return unsubscribe
        },
      }
    },
  }
}
