import type { Language } from '@berth/api/boot.ts'
import type { Events } from '#/containers/events.ts'
import type { SentEvent } from '#/containers/recent-events.ts'
import type { Handlers } from '#/http/handlers.ts'
import { requestedLanguage } from '#/http/requested-language.ts'
import { sessionOf, userOf } from '#/http/session-of.ts'
import { Message } from '#/messages/message.ts'
import { say } from '#/messages/say.ts'

export interface EventParts {
  readonly events: Events
}

export function eventHandlers({ events }: EventParts): Pick<Handlers, 'containerEvents'> {
  return {
    containerEvents: (call) => {
      const user = userOf(call)
      const { jti, expiresAt } = sessionOf(call).claims
      const language = requestedLanguage(call.request)
      const lastId = call.request.headers['last-event-id']?.toString()
      return {
        endsAt: expiresAt,
        begin: (sink) => {
          const listener = {
            onEvents: (all: readonly SentEvent[]) => void sink.send(all.map((each) => said(each, language))),
            onEnd: sink.end,
          }
          return events.subscribe({ userId: user.id, jti }, listener, lastId)
        },
      }
    },
  }
}

/** What happened is told to all pages of a person at once; each says it in its own language. */
function said(event: SentEvent, language: Language): SentEvent {
  const { message } = event.data
  return message instanceof Message ? { ...event, data: { ...event.data, message: say(language, message) } } : event
}
