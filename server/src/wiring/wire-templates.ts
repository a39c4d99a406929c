import { readFileSync } from 'node:fs'
import { ReloadTemplates } from '#/administration/reload-templates.ts'
import { TemplateVersions, type VersionedContainer } from '#/administration/template-versions.ts'
import { readTemplateFile } from '#/config/read-template-settings.ts'
import { templateVersion } from '#/containers/templates/template-version.ts'
import type { Template } from '#/containers/templates/template.ts'
import type { HostCheck } from '#/reconcile/host-check.ts'
import type { AppParts } from '#/wiring/app-parts.ts'
import type { Containers } from '#/wiring/wire-containers.ts'

/** What has to learn that the templates are others. */
export interface TemplateEffects {
  readonly hostCheck: Pick<HostCheck, 'lackingFor'>
  /** Sends the gateway its settings, the rules of all types among them. */
  readonly serve: () => Promise<void>
  /** Timers that run only while a template needs them. */
  readonly startTimers: () => void
}

/** Templates for administrators: their versions, and a reload while Berth runs. */
export function wireTemplates(parts: AppParts, containers: Containers, effects: TemplateEffects) {
  const { config, database } = parts
  const { templates, templatesFile, sources, containerRouting } = config
  const apply = async (next: readonly Template[]) => {
    templates.replace(next)
    effects.startTimers()
    await effects.serve()
    await containers.routeSync.readAll()
  }
  return {
    versions: new TemplateVersions({
      database,
      versions: () => templates.all().map((each) => ({ type: each.type, version: templateVersion(each) })),
      running: () => runningOf(parts),
      fingerprintOf: (user, type) => {
        const template = templates.get(type)
        return template && containers.fingerprintOf(user, template)
      },
    }),
    reload: new ReloadTemplates<Template>({
      database,
      read:
        templatesFile === null
          ? null
          : () => readTemplateFile(templatesFile, (file) => readFileSync(file, 'utf8'), sources, containerRouting),
      lackingFor: (next) => effects.hostCheck.lackingFor(next),
      apply,
      typesOf: (next) => next.map(({ type }) => type),
    }),
  }
}

export type TemplateAdministration = ReturnType<typeof wireTemplates>

async function runningOf({ runtime }: AppParts): Promise<VersionedContainer[]> {
  const all = await runtime.list()
  return all.flatMap(({ id, owner, state, templateVersion: version, fingerprint }) =>
    owner && (state === 'running' || state === 'paused')
      ? [{ containerId: id, userId: owner.userId, type: owner.type, version, fingerprint }]
      : [],
  )
}
