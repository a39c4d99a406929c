import { readFileSync } from 'node:fs'
import pLimit from 'p-limit'
import {
  ReloadTemplates,
  TemplateVersions,
  UpdateContainers,
  type TemplateImage,
  type VersionedContainer,
} from '#/admin/template-versions.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { readTemplateFile } from '#/config/config.ts'
import { templateVersion, type Template } from '#/templates/template.ts'
import type { HostCheck } from '#/containers/reconcile/host-check.ts'
import type { AppParts } from './app-parts.ts'
import { replaceOlder } from './replace-older.ts'
import type { Containers } from './wire-containers.ts'

/** Containers that are replaced at the same time; the launch queue orders them among all launches. */
const maxParallelReplacements = 4

/** What has to learn that the templates are others. */
export interface TemplateEffects {
  readonly hostCheck: Pick<HostCheck, 'lackingFor'>
  /** Sends the gateway its settings, the rules of all types among them. */
  readonly serve: () => Promise<void>
  /** With several nodes: resolves when followers answer by the present state; otherwise at once. */
  readonly publishToReaders: () => Promise<void>
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
    await effects.publishToReaders()
    await containers.routeSync.readAll()
  }
  const { restartRequests, spawner, idleSuspension, routeSync, singleFlight } = containers
  const limit = pLimit(maxParallelReplacements)
  const replacing = { db: database.db, templates, singleFlight, routeSync, idleSuspension, spawner }
  const versions = new TemplateVersions({
    database,
    versions: () => templates.all().map((each) => ({ type: each.type, version: templateVersion(each) })),
    imageOf: (type) => imageOf(parts, type),
    isAsked: (containerId) => restartRequests.has(containerId),
    running: () => runningOf(parts),
    fingerprintOf: (user, type) => {
      const template = templates.get(type)
      return template && containers.fingerprintOf(user, template)
    },
  })
  return {
    versions,
    update: new UpdateContainers({
      database,
      versions,
      types: () => templates.types,
      ask: async (ids, isAsked) => {
        restartRequests.set(ids, isAsked)
        await effects.publishToReaders()
      },
      replace: (type, older) => {
        for (const each of older)
          void limit(() =>
            tryOrLog(parts.log, `replacing ${type} of user ${each.userId}`, () => replaceOlder(replacing, type, each)),
          )
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

async function imageOf({ config, runtime }: AppParts, type: string): Promise<TemplateImage> {
  const reference = config.templates.get(type)?.image ?? ''
  const info = await runtime.imageInfo(reference)
  return { reference, id: info?.id ?? null, digest: info?.digest ?? null, pulledAt: info?.taggedAt ?? null }
}

async function runningOf({ runtime }: AppParts): Promise<VersionedContainer[]> {
  const all = await runtime.list()
  return all.flatMap(({ id, owner, state, templateVersion: version, fingerprint, imageId }) =>
    owner && (state === 'running' || state === 'paused')
      ? [{ containerId: id, userId: owner.userId, type: owner.type, version, fingerprint, imageId }]
      : [],
  )
}
