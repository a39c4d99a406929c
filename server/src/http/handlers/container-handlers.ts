import type { Language } from '@berth/api/boot.ts'
import { localize } from '@berth/texts/localize.ts'
import { LocalizedMessage, message } from '@berth/texts/localized-message.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { statusWords, type StatusLookup } from '#/containers/routes/own-containers.ts'
import type { SentEvent } from '#/containers/user-events.ts'
import { localizedReply, requestedLanguage } from '#/http/localized-reply.ts'
import { readLineCount, sessionOf, userOf, type Handlers, type HandlersParts } from './call.ts'
import { openPathOf } from './dto-serializers.ts'

/** The status alone, which needs nothing but a look. */
export function containerStatusHandlers({ ownContainers }: Pick<Containers, 'ownContainers'>) {
  return {
    containerStatus: async (call) => {
      const { record, lookup } = await ownContainers.primary(userOf(call).id)
      return { container_id: record?.containerId ?? null, status: statusOf(lookup) }
    },
  } satisfies Partial<Handlers>
}

/** A user's own containers. */
export const ownContainerHandlers = (parts: HandlersParts) => ({
  ...containerHandlers(parts),
  ...containerEventHandlers(parts),
  ...containerLogHandlers(parts),
  containerPorts: containerPortsHandler(parts.containers),
})

function containerHandlers({ containers, addresses: { spawnerUrl } }: HandlersParts) {
  const { launch, linkFiles, ownerActions, templates } = containers
  return {
    ...containerStatusHandlers(containers),

    restartContainer: async (call) => {
      const { containerId } = await launch.restartPrimary(userOf(call), call.now)
      return {
        message: localizedReply(call, message('answers.restarted')),
        container_id: containerId,
        status: 'running',
      }
    },

    restartOwnContainer: async (call) => {
      const { containerId } = await launch.restart(userOf(call), call.params.container_type, call.now)
      return {
        message: localizedReply(call, message('answers.restarted')),
        container_id: containerId,
        status: 'running',
      }
    },

    launchContainer: async (call) => {
      const user = userOf(call)
      const type = call.params.container_type
      const { containerId } = await launch.launch(user, type, call.now, call.body?.parameters)
      return {
        message: localizedReply(call, message('answers.running')),
        service_url: `${spawnerUrl}/${containerPrefix(user.slug, type)}`,
        ...openPathOf(templates.get(type) ?? templates.first),
        container_id: containerId,
        status: 'running',
      }
    },

    putLinkFiles: async (call) => {
      const { git, ref = null, to = '' } = call.body
      await linkFiles.put(userOf(call), call.params.container_type, { git, ref, to }, call.now)
      return { message: localizedReply(call, message('answers.filesPut')) }
    },

    stopOwnContainer: async (call) => {
      const by = sessionOf(call).claims.acting === null ? 'owner' : 'administrator'
      const wasRunning = await ownerActions.stop(userOf(call), call.params.container_type, by)
      return { message: localizedReply(call, message(wasRunning ? 'answers.stopped' : 'answers.doesNotRun')) }
    },

    keepContainer: async (call) => {
      const until = await ownerActions.keep(userOf(call), call.params.container_type, call.now)
      const words = message(until ? 'answers.kept' : 'answers.notKept')
      return { message: localizedReply(call, words), until: until?.toISOString() ?? null }
    },
  } satisfies Partial<Handlers>
}

/** Source: specification, `GET /api/container/status`: "the text error followed by a colon and a detail". */
function statusOf(lookup: StatusLookup | undefined): string {
  if (!lookup) return statusWords.noContainer
  return 'failure' in lookup ? `${statusWords.error}: ${lookup.failure}` : lookup.state
}

function containerEventHandlers({ containers: { subscriptions }, sessions }: HandlersParts) {
  return {
    containerEvents: (call) => {
      const user = userOf(call)
      const { sid, isRenewable, expiresAt } = sessionOf(call).claims
      const language = requestedLanguage(call.request)
      const lastId = call.request.headers['last-event-id']?.toString()
      return {
        endsAt: expiresAt,
        extendedTo: isRenewable ? () => sessions.endOf(sid) : undefined,
        begin: (sink) => {
          const listener = {
            onEvents: (all: readonly SentEvent[]) => void sink.send(all.map((each) => localizedEvent(each, language))),
            onEnd: sink.end,
          }
          return subscriptions.subscribe({ userId: user.id, sid }, listener, lastId)
        },
      }
    },
  } satisfies Partial<Handlers>
}

/** An event is published to all pages of a user at once; each receives it in its own language. */
function localizedEvent(event: SentEvent, language: Language): SentEvent {
  const { message } = event.data
  return message instanceof LocalizedMessage
    ? { ...event, data: { ...event.data, message: localize(language, message) } }
    : event
}

/** `GET /api/container/ports/{container_type}`. */
const containerPortsHandler =
  ({ ports }: Containers): Handlers['containerPorts'] =>
  async (call) => {
    const found = await ports.list(userOf(call), call.params.container_type)
    return {
      ports: found.map(({ port, isMain, isLoopback, url }) => ({
        port,
        is_main: isMain,
        is_loopback: isLoopback,
        url,
      })),
    }
  }

function containerLogHandlers({ containers: { logs }, sessions }: HandlersParts) {
  return {
    containerLogs: async (call) => {
      const user = userOf(call)
      const { sid, isRenewable, expiresAt } = sessionOf(call).claims
      const lines = readLineCount(call.query.lines)
      const reading = await logs.open({ userId: user.id, sid }, call.params.container_type)
      return {
        endsAt: expiresAt,
        extendedTo: isRenewable ? () => sessions.endOf(sid) : undefined,
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
  } satisfies Partial<Handlers>
}
