import type { FastifyBaseLogger } from 'fastify'
import type { ContainerLogs } from '#/containers/events/container-logs.ts'
import type { OpenStreams } from '#/containers/events/open-streams.ts'
import { refusals } from '#/errors.ts'
import type { EventSink } from '#/http/event-stream.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { sessionOf, userOf } from '#/http/auth/caller.ts'
import { message } from '#/messages/localized-message.ts'

export interface ContainerLogParts {
  readonly logs: ContainerLogs
  readonly streams: OpenStreams
}

/** Lines of the past: without a word about it, and at most. */
const [defaultLines, maxLines] = [100, 1_000]

export function containerLogHandlers({ logs, streams }: ContainerLogParts): Pick<Handlers, 'containerLogs'> {
  return {
    containerLogs: async (call) => {
      const user = userOf(call)
      const { jti, expiresAt } = sessionOf(call).claims
      const lines = linesOf(call.query.lines)
      const reading = new AbortController()
      // Before the engine is asked, which may take seconds: who is blocked meanwhile must not begin to read after that.
      const close = streams.open('logs', { userId: user.id, jti }, () => reading.abort())
      const containerId = await logs
        .find({ userId: user.id, type: call.params.container_type })
        .catch((error: unknown) => {
          close()
          throw error
        })
      return {
        endsAt: expiresAt,
        begin: (sink) => {
          follow(logs, { containerId, lines, sink, signal: reading.signal, log: call.request.log })
          return () => {
            close()
            reading.abort()
          }
        },
      }
    },
  }
}

interface Following {
  readonly containerId: string
  readonly lines: number
  readonly sink: EventSink
  readonly signal: AbortSignal
  readonly log: FastifyBaseLogger
}

/** Sends each line as fast as it is read, and at last, when nothing more can come, that this was all. */
function follow(logs: ContainerLogs, { containerId, lines, sink, signal, log }: Following): void {
  const onLine = (text: string) => sink.send([{ name: 'line', data: { text } }])
  signal.addEventListener('abort', sink.end)
  logs
    .follow(containerId, lines, onLine, signal)
    .then((isComplete) => (isComplete ? sink.send([{ name: 'end', data: {} }]) : undefined))
    .catch((error: unknown) => log.error({ err: error }, 'following the output of a container failed'))
    .finally(sink.end)
}

/** The table has checked that it is a number. @throws {Refusal} 400 */
function linesOf(text: string | undefined): number {
  const lines = text === undefined ? defaultLines : Number(text)
  if (lines > maxLines) throw refusals.badRequest(message('requests.tooManyLines', { max: maxLines }))
  return lines
}
