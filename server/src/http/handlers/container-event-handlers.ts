import type { Language } from '@berth/api/boot.ts'
import type { SentEvent, UserEventSubscriptions } from '#/containers/user-events.ts'
import type { Handlers } from './handler-types.ts'
import { requestedLanguage } from '#/http/localized-reply.ts'
import { sessionOf, userOf } from '#/http/auth/caller.ts'
import { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'

export interface ContainerEventParts {
  /** When the session of this claim `sid` ends, see `RenewSession.endOf`. */
  readonly sessionEnd: (sid: string) => Promise<Date>
  readonly subscriptions: UserEventSubscriptions
}

export function containerEventHandlers({
  subscriptions,
  sessionEnd,
}: ContainerEventParts): Pick<Handlers, 'containerEvents'> {
  return {
    containerEvents: (call) => {
      const user = userOf(call)
      const { sid, isRenewable, expiresAt } = sessionOf(call).claims
      const language = requestedLanguage(call.request)
      const lastId = call.request.headers['last-event-id']?.toString()
      return {
        endsAt: expiresAt,
        extendedTo: isRenewable ? () => sessionEnd(sid) : undefined,
        begin: (sink) => {
          const listener = {
            onEvents: (all: readonly SentEvent[]) => void sink.send(all.map((each) => localizedEvent(each, language))),
            onEnd: sink.end,
          }
          return subscriptions.subscribe({ userId: user.id, sid }, listener, lastId)
        },
      }
    },
  }
}

/** An event is published to all pages of a user at once; each receives it in its own language. */
function localizedEvent(event: SentEvent, language: Language): SentEvent {
  const { message } = event.data
  return message instanceof LocalizedMessage
    ? { ...event, data: { ...event.data, message: localize(language, message) } }
    : event
}
