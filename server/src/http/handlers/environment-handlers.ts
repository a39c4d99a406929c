import { endpoints } from '@berth/api/endpoints.ts'
import type * as dto from '@berth/api/schemas/environments.ts'
import type { Language } from '@berth/api/boot.ts'
import { localize } from '@berth/texts/localize.ts'
import { message } from '@berth/texts/localized-message.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { EnvironmentView, OlderOfType } from '#/environments/open-environments.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Template } from '#/templates/template.ts'
import { readLimit, userOf, type CallOrigin, type Handlers, type HandlersParts } from './call.ts'
import { openPathOf } from './dto-serializers.ts'
import { defaultPageSize, managerOf } from './group-handlers.ts'

/** Images that Berth builds. Rights are checked by the use cases; in a takeover there are none. */
export function environmentHandlers({ config, addresses, containers, environments: room }: HandlersParts) {
  const { templates } = config
  const { administration: environments } = room
  const { spawnerUrl } = addresses
  const urlOf = (slug: string, type: string) => `${spawnerUrl}/${containerPrefix(slug, type)}`
  const shown = (call: CallOrigin, environment: EnvironmentView): dto.Environment => {
    const slug = call.session?.user?.slug
    const { trial } = environment
    return {
      ...toEnvironment(environment, call.client.language),
      trial:
        trial && slug !== undefined
          ? {
              version: trial.version,
              container_type: trial.type,
              url: urlOf(slug, trial.type) + openSuffix(templates.get(trial.type)),
              ends_at: trial.endsAt.toISOString(),
            }
          : null,
    }
  }
  return {
    listEnvironments: async (call) => {
      const { query } = call
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const found = await environments.list(managerOf(call), page)
      return {
        environments: found.environments.map((each) => shown(call, each)),
        next_cursor: found.next === null ? null : String(found.next),
      }
    },
    createEnvironment: async (call) => {
      const { name, description = '', source, group_id: groupId = null } = call.body
      const made = await environments.create(managerOf(call), { name, description, source, groupId }, call.now)
      return { environment: shown(call, made) }
    },
    checkEnvironmentSource: async (call) => {
      const { source, group_id: groupId = null } = call.body
      const { images, recognised, dockerfile } = await environments.check(managerOf(call), source, groupId)
      return { images: [...images], recognised: [...recognised], dockerfile }
    },
    readEnvironment: async (call) => ({
      environment: shown(call, await environments.read(managerOf(call), call.params.name)),
    }),
    changeEnvironment: async (call) => {
      const { description, source, group_id: groupId } = call.body
      const changes = {
        ...(description !== undefined && { description }),
        ...(source !== undefined && { source }),
        ...(groupId !== undefined && { groupId }),
      }
      const changed = await environments.change(managerOf(call), call.params.name, changes, call.now)
      return { environment: shown(call, changed) }
    },
    deleteEnvironment: async (call) => {
      await environments.remove(managerOf(call), call.params.name, call.now)
      return { message: localizedReply(call, message('environments.deleted')) }
    },
    buildEnvironment: async (call) => ({
      version: await environments.build(managerOf(call), call.params.name, call.now),
    }),
    readBuildLog: async (call) => {
      const { name, version } = call.params
      const log = await environments.log(managerOf(call), name, readVersion(version))
      if (call.session) {
        const { userId, sid } = call.session.claims
        const close = containers.streams.open('logs', { userId, sid }, () => void log.destroy())
        log.once('close', close)
      }
      void call.reply.header('content-type', endpoints.readBuildLog.file)
      return log
    },
    publishVersion: async (call) => {
      const { name, version } = call.params
      const published = await environments.publish(managerOf(call), name, readVersion(version), call.now)
      return { environment: shown(call, published) }
    },
    tryVersion: async (call) => {
      const { name, version } = call.params
      const user = userOf(call)
      const begun = await environments.try(managerOf(call), user, name, readVersion(version), call.now)
      const template = templates.get(begun.type)
      return {
        container_type: begun.type,
        service_url: urlOf(user.slug, begun.type),
        ...(template && openPathOf(template)),
        container_id: begun.containerId,
        ends_at: begun.endsAt.toISOString(),
      }
    },
    endTrial: async (call) => {
      await environments.endTrial(managerOf(call), call.params.name)
      return { message: localizedReply(call, message('environments.trialEnded')) }
    },
    listOlder: async (call) => ({
      older: (await environments.older(managerOf(call), call.params.name)).map(toOlder),
    }),
    updateOlder: async (call) => {
      const { mode } = call.body
      const { count, left } = await environments.update(managerOf(call), call.params.name, mode, call.now)
      return { message: localizedReply(call, message('answers.containersUpdated', { count, left, mode })) }
    },
    cancelBuild: async (call) => {
      const { name, version } = call.params
      const cancelled = await environments.cancel(managerOf(call), name, readVersion(version), call.now)
      return { environment: shown(call, cancelled) }
    },
  } satisfies Partial<Handlers>
}

/** @throws {Refusal} 404 for text that is no number of a version */
function readVersion(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.environmentNotFound('version')
  return Number(text)
}

const openSuffix = (template: Template | undefined) =>
  template === undefined || template.openPath === '' ? '/' : `/${template.openPath}`

const toOlder = ({ type, userId, email, containerId, isAsked, mayLaunch }: OlderOfType) => ({
  container_type: type,
  user_id: userId,
  email,
  container_id: containerId,
  is_asked: isAsked,
  ...(!mayLaunch && { may_not_launch: true as const }),
})

function toEnvironment(
  { name, description, source, groupId, group, published, types, versions }: EnvironmentView,
  language: Language,
): Omit<dto.Environment, 'trial'> {
  return {
    name,
    description,
    source,
    group_id: groupId,
    group,
    published,
    types: [...types],
    versions: versions.map(({ version, state, imageId, size, createdAt, error, changes }) => ({
      version,
      state,
      image_id: imageId,
      size,
      created_at: createdAt.toISOString(),
      error: error && localize(language, error),
      changes: changes && [...changes],
    })),
  }
}
