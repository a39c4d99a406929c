import type { ContainerSpec, Owner } from '#/engines/container-spec.ts'
import type { ObjectMeta } from './api-objects.ts'

/**
 * Labels and annotations of pods and claims: their installation and owner. A label's value has fewer characters than a
 * type may have.
 */
const names = {
  installation: 'berth.instance',
  userId: 'berth.user_id',
  slug: 'berth.slug',
  type: 'berth.type',
  name: 'berth.name',
  port: 'berth.port',
  fingerprint: 'berth.fingerprint',
  templateVersion: 'berth.template_version',
  folder: 'berth.folder',
} as const

type Texts = Readonly<Record<string, string>>

/** What a label selector can find. */
export const ownerLabels = (installation: string, { userId }: Owner): Texts => ({
  [names.installation]: installation,
  [names.userId]: String(userId),
})

export const installationLabels = (installation: string): Texts => ({ [names.installation]: installation })

export const ownerAnnotations = ({ slug, type }: Owner): Texts => ({ [names.slug]: slug, [names.type]: type })

export const podAnnotations = ({ name, owner, fingerprint, templateVersion }: ContainerSpec, port: number): Texts => ({
  ...ownerAnnotations(owner),
  [names.name]: name,
  [names.port]: String(port),
  [names.fingerprint]: fingerprint,
  ...(templateVersion === undefined ? {} : { [names.templateVersion]: templateVersion }),
})

/** Annotation with the name of a home, which may differ from its claim's. */
export const nameAnnotation = (name: string): Texts => ({ [names.name]: name })

/** Labels of a claim that pods of several people have; it is no user's home. */
export const folderLabels = (installation: string): Texts => ({
  ...installationLabels(installation),
  [names.folder]: 'group',
})

/** Whether it carries this installation's name. */
export const isOfInstallation = ({ labels }: ObjectMeta, installation: string): boolean =>
  labels?.[names.installation] === installation

/** Selector of the objects of an installation, or of one of its users. */
export const selectorOf = (installation: string, userId?: number): string =>
  [`${names.installation}=${installation}`, ...(userId === undefined ? [] : [`${names.userId}=${userId}`])].join(',')

/** Selector of the objects of every installation. */
export const anyInstallation: string = names.installation

/** Whose it is, or null when it does not carry this installation's labels. */
export function ownerOf({ labels, annotations }: ObjectMeta, installation: string): Owner | null {
  const { [names.userId]: userId } = labels ?? {}
  const { [names.slug]: slug, [names.type]: type } = annotations ?? {}
  if (labels?.[names.installation] !== installation || !userId || !/^\d+$/.test(userId) || !slug || type === undefined)
    return null
  return { userId: Number(userId), slug, type }
}

export const nameOf = ({ name, annotations }: ObjectMeta): string => annotations?.[names.name] ?? name

export function portOf({ annotations }: ObjectMeta): number | null {
  const port = annotations?.[names.port]
  return port === undefined ? null : Number(port)
}

export const fingerprintOf = ({ annotations }: ObjectMeta): string | null => annotations?.[names.fingerprint] ?? null

export const templateVersionOf = ({ annotations }: ObjectMeta): string | undefined =>
  annotations?.[names.templateVersion]

/**
 * Name of the object of a container or a home. Those names have only letters, digits, hyphens, and underscores where
 * they end with a hash, so no two become one.
 * @returns undefined for what cannot be a name in a cluster
 */
export function objectName(name: string): string | undefined {
  const spelled = name.replaceAll('_', '-')
  return /^[a-z0-9]([a-z0-9-]{0,251}[a-z0-9])?$/.test(spelled) ? spelled : undefined
}
