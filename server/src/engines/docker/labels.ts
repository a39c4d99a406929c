import type { ContainerSpec, Owner } from '#/engines/container-spec.ts'

/** Labels of containers, volumes and networks: their installation and owner. */
const labelNames = {
  installation: 'berth.instance',
  userId: 'berth.user_id',
  slug: 'berth.slug',
  type: 'berth.type',
  port: 'berth.port',
  fingerprint: 'berth.fingerprint',
  templateVersion: 'berth.template_version',
  gpus: 'berth.gpus',
  probe: 'berth.probe',
  tool: 'berth.tool',
  folder: 'berth.folder',
} as const

/**
 * Marks what builds of images make: their installation, and the build. Images keep them, and containers get them from
 * their image.
 */
export const buildLabels = { installation: 'berth.build', build: 'berth.build_id' } as const

/** Marks helpers; not the label of installations, so that no reconciler takes one for a container of a user. */
export const helperLabel = 'berth.helper'

/** Of one that this process makes, which is removed once the process is gone. */
export const helperLabels = (installation: string): Labels => ({
  [helperLabel]: installation,
  [`${helperLabel}.pid`]: String(process.pid),
})

/** Says what a helper that runs does. */
export const helperTaskLabel = `${helperLabel}.task`

/** What helpers that run do: the broker starts no other. */
export type HelperTask = 'chown' | 'du'

export const taskHelperLabels = (installation: string, task: HelperTask): Labels => ({
  ...helperLabels(installation),
  [helperTaskLabel]: task,
})

type Labels = Readonly<Record<string, string>>

export function labelsFor(installation: string, spec: ContainerSpec, port: number): Labels {
  return {
    ...homeLabels(installation, spec.owner),
    [labelNames.port]: String(port),
    [labelNames.fingerprint]: spec.fingerprint,
    ...(spec.templateVersion === undefined ? {} : { [labelNames.templateVersion]: spec.templateVersion }),
    ...(spec.gpuIds && { [labelNames.gpus]: spec.gpuIds.join(',') }),
  }
}

export function homeLabels(installation: string, owner: Owner): Labels {
  return {
    [labelNames.installation]: installation,
    [labelNames.userId]: String(owner.userId),
    [labelNames.slug]: owner.slug,
    [labelNames.type]: owner.type,
  }
}

/** Labels of a volume that containers of several people have; it is no user's home. */
export const folderLabels = (installation: string): Labels => ({
  ...installationLabel(installation),
  [labelNames.folder]: 'group',
})

/** Whether it is such a volume of this installation. */
export const isFolder = (labels: Labels | null | undefined, installation: string) =>
  isOfInstallation(labels, installation) && labels?.[labelNames.folder] !== undefined

export const installationLabel = (installation: string): Labels => ({ [labelNames.installation]: installation })

/** On volumes that probe whether they can be made; they are no user's home. */
export const probeLabels = (installation: string): Labels => ({
  ...installationLabel(installation),
  [labelNames.probe]: 'home-size',
})

export const probeFilter = (installation: string): string[] => [
  ...labelFilter(installation),
  `${labelNames.probe}=home-size`,
]

/** On volumes with the container tool; they are no user's home. */
export const toolLabels = (installation: string): Labels => ({
  ...installationLabel(installation),
  [labelNames.tool]: 'container-tool',
})

export const toolFilter = (installation: string): string[] => [...labelFilter(installation), labelNames.tool]

/** Whether it carries this installation's name, as its networks do. */
export const isOfInstallation = (labels: Labels | null | undefined, installation: string) =>
  labels?.[labelNames.installation] === installation

export const isOfAnyInstallation = (labels: Labels | null | undefined) =>
  labels?.[labelNames.installation] !== undefined

/** Name of the installation that it belongs to. */
export const installationIn = (labels: Labels | null | undefined) => labels?.[labelNames.installation]

/** Part of a filter: containers with ids of GPUs. */
export const gpusFilter = labelNames.gpus

/** Filter that the engine applies before it answers. */
export function labelFilter(installation: string, userId?: number): string[] {
  const ours = `${labelNames.installation}=${installation}`
  return userId === undefined ? [ours] : [ours, `${labelNames.userId}=${userId}`]
}

/** Whose it is, or null when it does not carry this installation's labels. */
export function ownerFrom(labels: Labels | null | undefined, installation: string): Owner | null {
  const { [labelNames.userId]: userId, [labelNames.slug]: slug, [labelNames.type]: type } = labels ?? {}
  if (
    labels?.[labelNames.installation] !== installation ||
    !userId ||
    !/^\d+$/.test(userId) ||
    !slug ||
    type === undefined
  )
    return null
  return { userId: Number(userId), slug, type }
}

export function portFrom(labels: Labels | null | undefined): number | null {
  const port = labels?.[labelNames.port]
  return port === undefined ? null : Number(port)
}

export const fingerprintFrom = (labels: Labels | null | undefined) => labels?.[labelNames.fingerprint] ?? null

/** Undefined on containers of a Berth that knew no versions of templates. */
export const templateVersionFrom = (labels: Labels | null | undefined) => labels?.[labelNames.templateVersion]

/** Ids of GPUs; undefined on containers without any, and on those that were asked for as a number. */
export const gpuIdsFrom = (labels: Labels | null | undefined) => labels?.[labelNames.gpus]?.split(',')
