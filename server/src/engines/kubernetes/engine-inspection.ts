import type {
  ClusterInspection,
  ClusterReport,
  EngineInspection,
  QuotaUse,
  StorageClasses,
} from '#/engines/engine-inspection.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { quantity, type ObjectList, type ObjectMeta } from './api-objects.ts'
import { openClusterAccess } from './cluster-access.ts'
import { ClusterClient, callTimeouts, corePath, statusOf } from './cluster-client.ts'
import { anyInstallation, nameOf } from './labels.ts'

export interface InspectionOptions {
  readonly kubeconfig: string | undefined
  readonly namespace: string | null
  readonly helperImage: string | null
  readonly toolImage: string | null
}

/** What every look needs. */
export interface InspectedCluster {
  readonly client: ClusterClient
  readonly server: string
  readonly namespace: string
  /** Whether commands are run in pods, by helpers or SSH, which needs rights of its own. */
  readonly runsCommands: boolean
}

/** How long a claim may wait for its volume, in ms. */
const bindingTime = 300_000
/** Objects that are looked at, of each kind. */
const maxObjects = '500'

/** Looks at a cluster without making anything there; connects at the first question. */
export function inspectionsOfCluster(options: InspectionOptions) {
  let opened: Promise<InspectedCluster> | undefined
  const cluster = () => (opened ??= open(options))
  const inspection: ClusterInspection = {
    report: async () => report(await cluster()),
    rights: async () => rights(await cluster()),
    storageClasses: async () => storageClasses(await cluster()),
    unboundHomes: async (now) => unboundHomes(await cluster(), now),
    quotas: async () => quotas(await cluster()),
  }
  return { cluster: inspection, engine: engineOfCluster(inspection) }
}

async function open({ kubeconfig, namespace, helperImage, toolImage }: InspectionOptions): Promise<InspectedCluster> {
  const access = await openClusterAccess(kubeconfig)
  return {
    client: new ClusterClient(access),
    server: access.server,
    namespace: namespace ?? access.namespace,
    runsCommands: helperImage !== null || toolImage !== null,
  }
}

export async function report({ client, server, namespace }: InspectedCluster): Promise<ClusterReport> {
  const call = { what: 'ask the cluster for its version', method: 'GET', path: '/version' } as const
  const { answer, date } = await client.askWithDate<{ gitVersion?: string }>({ ...call, timeout: callTimeouts.read })
  return { server, namespace, version: (answer.gitVersion ?? '').replace(/^v/, ''), time: date }
}

export async function rights(cluster: InspectedCluster) {
  const used = cluster.runsCommands ? [...neededRights, ...helperRights] : neededRights
  const unused = spareRights.filter(({ resource }) => !cluster.runsCommands || resource !== 'pods/exec')
  const [needed, spare] = await Promise.all([askAll(cluster, used), askAll(cluster, unused)])
  return {
    lacking: needed.flatMap(({ right, isAllowed }) => (isAllowed ? [] : [right])),
    spare: spare.flatMap(({ right, isAllowed }) => (isAllowed ? [right] : [])),
  }
}

/** Any account may ask what it may do. */
const askAll = (cluster: InspectedCluster, all: readonly Rights[]) =>
  Promise.all(
    all.flatMap(({ resource, verbs }) =>
      verbs.map(async (verb) => ({ right: `${verb} ${resource}`, isAllowed: await mayDo(cluster, verb, resource) })),
    ),
  )

async function mayDo({ client, namespace }: InspectedCluster, verb: string, of: string): Promise<boolean> {
  const [resource, subresource] = of.split('/')
  const { status } = await client.ask<{ status: { allowed: boolean } }>({
    what: 'ask what this account may do',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, verb, resource, ...(subresource && { subresource }) } },
    },
    timeout: callTimeouts.read,
  })
  return status.allowed
}

const defaultClass = 'storageclass.kubernetes.io/is-default-class'

export async function storageClasses({ client }: InspectedCluster): Promise<StorageClasses | null> {
  const items = await listIfAllowed<{ metadata: ObjectMeta }>(client, '/apis/storage.k8s.io/v1/storageclasses')
  if (!items) return null
  const isDefault = items.find(({ metadata }) => metadata.annotations?.[defaultClass] === 'true')
  return { names: items.map(({ metadata }) => metadata.name), default: isDefault?.metadata.name ?? null }
}

/** Homes of all installations in the namespace: the name of this one is in its store. */
export async function unboundHomes(cluster: InspectedCluster, now: Date): Promise<readonly string[]> {
  const { items } = await cluster.client.ask<ObjectList<StoredClaim>>({
    what: 'list homes',
    method: 'GET',
    path: corePath(cluster, 'persistentvolumeclaims'),
    query: { labelSelector: anyInstallation, limit: maxObjects },
    timeout: callTimeouts.list,
  })
  const isLate = ({ metadata, status }: StoredClaim) =>
    status?.phase === 'Pending' && now.getTime() - Date.parse(metadata.creationTimestamp ?? '') > bindingTime
  return items.filter(isLate).map(({ metadata }) => nameOf(metadata))
}

interface StoredClaim {
  readonly metadata: ObjectMeta
  readonly status?: { readonly phase?: string }
}

export async function quotas(cluster: InspectedCluster): Promise<readonly QuotaUse[] | null> {
  const items = await listIfAllowed<StoredQuota>(cluster.client, corePath(cluster, 'resourcequotas'))
  return (
    items?.flatMap(({ metadata, status }) =>
      Object.entries(status?.hard ?? {}).map(([resource, hard]) => {
        const used = status?.used?.[resource] ?? '0'
        // A quota of nothing is used up.
        const share = quantity(hard) === 0 ? 1 : quantity(used) / quantity(hard)
        return { quota: metadata.name, resource, used, hard, share }
      }),
    ) ?? null
  )
}

interface StoredQuota {
  readonly metadata: ObjectMeta
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly used?: Readonly<Record<string, string>>
  }
}

/** @returns null when this account may not list them */
async function listIfAllowed<T>(client: ClusterClient, path: string): Promise<readonly T[] | null> {
  try {
    const call = { what: `list ${path.split('/').at(-1)}`, method: 'GET', path, query: { limit: maxObjects } } as const
    return (await client.ask<ObjectList<T>>({ ...call, timeout: callTimeouts.list })).items
  } catch (error) {
    if (statusOf(error) === 403) return null
    throw error
  }
}

/**
 * What checks of any installation ask an engine: its clock. A cluster has no images, rules or folders on this machine.
 */
export function engineOfCluster(cluster: ClusterInspection): EngineInspection {
  const refuse = async (): Promise<never> => {
    throw new RuntimeError('failed', 'a cluster is not asked for this')
  }
  return {
    report: async () => {
      const { server, version, time } = await cluster.report()
      const none = { securityOptions: [], rootDir: '', freeNetworks: Number.POSITIVE_INFINITY }
      return { ...none, address: server, versions: { kubernetes: version }, time }
    },
    hostRules: refuse,
    hasImage: refuse,
    isInRegistry: refuse,
  }
}

/** A resource of the core API, with a subresource such as `pods/log`, and what Berth does with it. */
interface Rights {
  readonly resource: string
  readonly verbs: readonly string[]
}

/** All that Berth does in the namespace of its containers, as `deploy/kubernetes/role.yaml` has it. */
export const neededRights: readonly Rights[] = [
  { resource: 'pods', verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  { resource: 'pods/log', verbs: ['get'] },
  { resource: 'events', verbs: ['list'] },
  { resource: 'persistentvolumeclaims', verbs: ['get', 'list', 'create', 'delete'] },
  { resource: 'secrets', verbs: ['create', 'update'] },
]

/**
 * With `KUBERNETES_HELPER_IMAGE` or `KUBERNETES_TOOL_IMAGE`, as `role-of-helpers.yaml` and `role-of-ports.yaml` of
 * `deploy/kubernetes` have it: clusters from 1.35 on ask for
 * `create`.
 */
export const helperRights: readonly Rights[] = [{ resource: 'pods/exec', verbs: ['get', 'create'] }]

/** What Berth never does, and would make a stolen token of its account worth more. */
const spareRights: readonly Rights[] = [
  { resource: 'secrets', verbs: ['get', 'list'] },
  { resource: 'pods/exec', verbs: ['create'] },
  { resource: 'serviceaccounts/token', verbs: ['create'] },
]
