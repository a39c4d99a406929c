import { endpoints } from '@berth/api/endpoints.ts'
import type * as dto from '@berth/api/schemas/environments.ts'
import type { Language } from '@berth/api/boot.ts'
import { localize } from '@berth/texts/localize.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { OpenStreams } from '#/containers/open-streams.ts'
import type { EnvironmentAdministration, EnvironmentView } from '#/environments/open-environments.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { refusals } from '#/refusals/errors.ts'
import { readLimit, type Handlers } from './call.ts'
import { defaultPageSize, managerOf } from './group-handlers.ts'

type EnvironmentNames =
  | 'listEnvironments'
  | 'createEnvironment'
  | 'checkEnvironmentSource'
  | 'readEnvironment'
  | 'changeEnvironment'
  | 'deleteEnvironment'
  | 'buildEnvironment'
  | 'readBuildLog'
  | 'publishVersion'
  | 'cancelBuild'

export interface EnvironmentHandlerParts {
  readonly environments: EnvironmentAdministration
  /** Ends what a session that is over reads. */
  readonly streams: Pick<OpenStreams, 'open'>
}

/** Images that Berth builds. Rights are checked by the use cases; in a takeover there are none. */
export function environmentHandlers({
  environments,
  streams,
}: EnvironmentHandlerParts): Pick<Handlers, EnvironmentNames> {
  return {
    listEnvironments: async (call) => {
      const { query } = call
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const found = await environments.list(managerOf(call), page)
      return {
        environments: found.environments.map((each) => toEnvironment(each, call.client.language)),
        next_cursor: found.next === null ? null : String(found.next),
      }
    },
    createEnvironment: async (call) => {
      const { name, description = '', source, group_id: groupId = null } = call.body
      const made = await environments.create(managerOf(call), { name, description, source, groupId }, call.now)
      return { environment: toEnvironment(made, call.client.language) }
    },
    checkEnvironmentSource: async (call) => {
      const { source, group_id: groupId = null } = call.body
      const { images, recognised, dockerfile } = await environments.check(managerOf(call), source, groupId)
      return { images: [...images], recognised: [...recognised], dockerfile }
    },
    readEnvironment: async (call) => ({
      environment: toEnvironment(await environments.read(managerOf(call), call.params.name), call.client.language),
    }),
    changeEnvironment: async (call) => {
      const { description, source, group_id: groupId } = call.body
      const changes = {
        ...(description !== undefined && { description }),
        ...(source !== undefined && { source }),
        ...(groupId !== undefined && { groupId }),
      }
      const changed = await environments.change(managerOf(call), call.params.name, changes, call.now)
      return { environment: toEnvironment(changed, call.client.language) }
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
        const close = streams.open('logs', { userId, sid }, () => void log.destroy())
        log.once('close', close)
      }
      void call.reply.header('content-type', endpoints.readBuildLog.file)
      return log
    },
    publishVersion: async (call) => {
      const { name, version } = call.params
      const published = await environments.publish(managerOf(call), name, readVersion(version), call.now)
      return { environment: toEnvironment(published, call.client.language) }
    },
    cancelBuild: async (call) => {
      const { name, version } = call.params
      const cancelled = await environments.cancel(managerOf(call), name, readVersion(version), call.now)
      return { environment: toEnvironment(cancelled, call.client.language) }
    },
  }
}

/** @throws {Refusal} 404 for text that is no number of a version */
function readVersion(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.environmentNotFound('version')
  return Number(text)
}

function toEnvironment(
  { name, description, source, groupId, published, types, versions }: EnvironmentView,
  language: Language,
): dto.Environment {
  return {
    name,
    description,
    source,
    group_id: groupId,
    published,
    types: [...types],
    versions: versions.map(({ version, state, imageId, size, createdAt, error }) => ({
      version,
      state,
      image_id: imageId,
      size,
      created_at: createdAt.toISOString(),
      error: error && localize(language, error),
    })),
  }
}
