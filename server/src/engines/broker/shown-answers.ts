import type { EngineObjects } from './engine-objects.ts'

/** Parts of answers that Berth reads, where the engine tells of the whole host. */

interface Network {
  readonly Id: string
  readonly Name: string
  readonly Driver: string
  readonly Options: Readonly<Record<string, string>> | null
  readonly Labels: Readonly<Record<string, string>> | null
  readonly IPAM: unknown
}

/** Networks without their members, and of their labels those of Berth: each installation looks for addresses that are free. */
export function shownNetworks(answer: unknown): unknown {
  return (answer as readonly Network[]).map(({ Id, Name, Driver, Options, Labels, IPAM }) => ({
    Id,
    Name,
    Driver,
    Options: startingWith('com.docker.network.bridge.', Options),
    Labels: startingWith('berth.', Labels),
    IPAM,
  }))
}

interface Sizes {
  readonly Volumes?:
    readonly { readonly Name: string; readonly Labels: Network['Labels']; readonly UsageData?: unknown }[] | null
}

/** Sizes of the installation's own volumes. Engines before API 1.42 list all containers and images, too. */
export function shownSizes(answer: unknown, objects: Pick<EngineObjects, 'isOwn'>): unknown {
  const { Volumes } = answer as Sizes
  const own = (Volumes ?? []).filter(({ Labels }) => objects.isOwn(Labels))
  return { Volumes: own.map(({ Name, Labels, UsageData }) => ({ Name, Labels, UsageData })) }
}

const startingWith = (prefix: string, all: Readonly<Record<string, string>> | null) =>
  Object.fromEntries(Object.entries(all ?? {}).filter(([key]) => key.startsWith(prefix)))
