import type { ReloadTemplates, TemplateVersions, UpdateContainers } from '#/admin/template-versions.ts'
import { actorOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface TemplateParts {
  readonly versions: Pick<TemplateVersions, 'list'>
  readonly update: Pick<UpdateContainers, 'run'>
  readonly reload: Pick<ReloadTemplates<unknown>, 'run'>
}

/** Templates, for administrators. */
export function templateHandlers({
  versions,
  reload,
  update,
}: TemplateParts): Pick<Handlers, 'listTemplates' | 'reloadTemplates' | 'updateContainersOf'> {
  return {
    listTemplates: async () => ({
      templates: (await versions.list()).map(({ type, version, image, older }) => ({
        type,
        version,
        image: {
          reference: image.reference,
          id: image.id,
          digest: image.digest,
          pulled_at: image.pulledAt?.toISOString() ?? null,
        },
        older: older.map(({ userId, email, containerId }) => ({
          user_id: userId,
          email,
          container_id: containerId,
        })),
        asked: older.filter(({ isAsked }) => isAsked).length,
      })),
    }),
    updateContainersOf: async (call) => {
      const { mode } = call.body
      const count = await update.run(actorOf(call), call.params.container_type, mode, call.now)
      return { message: localizedReply(call, message('answers.containersUpdated', { count, mode })) }
    },
    reloadTemplates: async (call) => {
      const types = await reload.run(actorOf(call), call.now)
      return { message: localizedReply(call, message('answers.templatesReloaded', { count: types.length })) }
    },
  }
}
