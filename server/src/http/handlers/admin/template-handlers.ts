import type { ReloadTemplates } from '#/administration/reload-templates.ts'
import type { TemplateVersions } from '#/administration/template-versions.ts'
import { actorOf } from '#/http/auth/caller.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '#/messages/localized-message.ts'

export interface TemplateParts {
  readonly versions: Pick<TemplateVersions, 'list'>
  readonly reload: Pick<ReloadTemplates<unknown>, 'run'>
}

/** Templates, for administrators. */
export function templateHandlers({
  versions,
  reload,
}: TemplateParts): Pick<Handlers, 'listTemplates' | 'reloadTemplates'> {
  return {
    listTemplates: async () => ({
      templates: (await versions.list()).map(({ type, version, older }) => ({
        type,
        version,
        older: older.map(({ userId, email, containerId }) => ({ user_id: userId, email, container_id: containerId })),
      })),
    }),
    reloadTemplates: async (call) => {
      const types = await reload.run(actorOf(call), call.now)
      return { message: localizedReply(call, message('answers.templatesReloaded', { count: types.length })) }
    },
  }
}
