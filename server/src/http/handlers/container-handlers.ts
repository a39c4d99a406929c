import { containerPrefix } from '#/containers/container-name.ts'
import type { Launch } from '#/containers/launch/launch.ts'
import type { OwnerActions } from '#/containers/idle/owner-actions.ts'
import { statusWords, type OwnContainers, type StatusLookup } from '#/containers/routes/own-containers.ts'
import type { Templates } from '#/templates/template.ts'
import { openPathOf } from './dto-serializers.ts'
import type { Handlers } from './handler-types.ts'
import { userOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface ContainerParts {
  readonly ownContainers: OwnContainers
  readonly launch: Launch
  readonly templates: Pick<Templates, 'get' | 'first'>
  readonly ownerActions: OwnerActions
  readonly spawnerUrl: string
}

type Container =
  | 'containerStatus'
  | 'restartContainer'
  | 'restartOwnContainer'
  | 'launchContainer'
  | 'stopOwnContainer'
  | 'keepContainer'

/** The status alone, which needs nothing but a look. */
export const containerStatusHandlers = ({
  ownContainers,
}: Pick<ContainerParts, 'ownContainers'>): Pick<Handlers, 'containerStatus'> => ({
  containerStatus: async (call) => {
    const { record, lookup } = await ownContainers.primary(userOf(call).id)
    return { container_id: record?.containerId ?? null, status: statusOf(lookup) }
  },
})

export function containerHandlers({
  ownContainers,
  launch,
  templates,
  ownerActions,
  spawnerUrl,
}: ContainerParts): Pick<Handlers, Container> {
  return {
    ...containerStatusHandlers({ ownContainers }),

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

    stopOwnContainer: async (call) => {
      const wasRunning = await ownerActions.stop(userOf(call), call.params.container_type)
      return { message: localizedReply(call, message(wasRunning ? 'answers.stopped' : 'answers.doesNotRun')) }
    },

    keepContainer: async (call) => {
      const until = await ownerActions.keep(userOf(call), call.params.container_type, call.now)
      const words = message(until ? 'answers.kept' : 'answers.notKept')
      return { message: localizedReply(call, words), until: until?.toISOString() ?? null }
    },
  }
}

/** Source: specification, `GET /api/container/status`: "the text error followed by a colon and a detail". */
function statusOf(lookup: StatusLookup | undefined): string {
  if (!lookup) return statusWords.noContainer
  return 'failure' in lookup ? `${statusWords.error}: ${lookup.failure}` : lookup.state
}
