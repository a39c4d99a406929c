import type { ContainerLogs } from '#/containers/container-logs.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Handlers } from './handler-types.ts'
import { sessionOf, userOf } from '#/http/auth/caller.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface ContainerLogParts {
  /** When the session of this claim `sid` ends, see `RenewSession.endOf`. */
  readonly sessionEnd: (sid: string) => Promise<Date>
  readonly logs: ContainerLogs
}

/** Earlier lines in the answer: default and maximum. */
const [defaultLines, maxLines] = [100, 1_000]

export function containerLogHandlers({ logs, sessionEnd }: ContainerLogParts): Pick<Handlers, 'containerLogs'> {
  return {
    containerLogs: async (call) => {
      const user = userOf(call)
      const { sid, isRenewable, expiresAt } = sessionOf(call).claims
      const lines = linesOf(call.query.lines)
      const reading = await logs.open({ userId: user.id, sid }, call.params.container_type)
      return {
        endsAt: expiresAt,
        extendedTo: isRenewable ? () => sessionEnd(sid) : undefined,
        begin: (sink) => {
          reading.signal.addEventListener('abort', sink.end)
          logs
            .follow(reading, lines, (text) => sink.send([{ name: 'line', data: { text } }]))
            // The event `end` says that the output is complete; a stream that is ended early has none.
            .then((isComplete) => (isComplete ? sink.send([{ name: 'end', data: {} }]) : undefined))
            .catch((error: unknown) => call.request.log.error({ err: error }, 'reading the log of a container failed'))
            .finally(sink.end)
          return reading.close
        },
      }
    },
  }
}

/** @param text digits, as the endpoint table has checked @throws {Refusal} 400 above the maximum */
function linesOf(text: string | undefined): number {
  const lines = text === undefined ? defaultLines : Number(text)
  if (lines > maxLines) throw refusals.badRequest(message('requests.tooManyLines', { max: maxLines }))
  return lines
}
