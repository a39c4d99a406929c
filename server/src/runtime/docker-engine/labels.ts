import type { InstanceSpec, Owner } from '#/runtime/runtime.ts'

/** How containers, volumes and networks say whose they are. */
const names = {
  instance: 'berth.instance',
  userId: 'berth.user_id',
  slug: 'berth.slug',
  type: 'berth.type',
  port: 'berth.port',
  fingerprint: 'berth.fingerprint',
  probe: 'berth.probe',
} as const

type Labels = Readonly<Record<string, string>>

export function labelsFor(instance: string, spec: InstanceSpec, port: number): Labels {
  return { ...homeLabels(instance, spec.owner), [names.port]: String(port), [names.fingerprint]: spec.fingerprint }
}

export function homeLabels(instance: string, owner: Owner): Labels {
  return {
    [names.instance]: instance,
    [names.userId]: String(owner.userId),
    [names.slug]: owner.slug,
    [names.type]: owner.type,
  }
}

export const instanceLabel = (instance: string): Labels => ({ [names.instance]: instance })

/** On volumes that are made to see whether they can be made; they are nobody's home. */
export const probeLabels = (instance: string): Labels => ({ ...instanceLabel(instance), [names.probe]: 'home-size' })

export const probeFilter = (instance: string): string[] => [...labelFilter(instance), `${names.probe}=home-size`]

/** Whether it carries this installation's name, as its networks do. */
export const isOfInstance = (labels: Labels | null | undefined, instance: string) =>
  labels?.[names.instance] === instance

export const isOfAnyInstance = (labels: Labels | null | undefined) => labels?.[names.instance] !== undefined

/** Filter that the engine applies before it answers. */
export function labelFilter(instance: string, userId?: number): string[] {
  const ours = `${names.instance}=${instance}`
  return userId === undefined ? [ours] : [ours, `${names.userId}=${userId}`]
}

/** Whose it is, or null when it does not carry this installation's labels. */
export function ownerFrom(labels: Labels | null | undefined, instance: string): Owner | null {
  const { [names.userId]: userId, [names.slug]: slug, [names.type]: type } = labels ?? {}
  if (labels?.[names.instance] !== instance || !userId || !/^\d+$/.test(userId) || !slug || type === undefined)
    return null
  return { userId: Number(userId), slug, type }
}

export function portFrom(labels: Labels | null | undefined): number | null {
  const port = labels?.[names.port]
  return port === undefined ? null : Number(port)
}

export const fingerprintFrom = (labels: Labels | null | undefined) => labels?.[names.fingerprint] ?? null
