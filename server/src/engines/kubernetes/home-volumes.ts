import type { ContainerSpec, Owner } from '#/engines/container-spec.ts'
import type { ArchivedHome } from '#/engines/home-archive.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { quantity, type Claim } from './api-objects.ts'
import { callTimeouts, corePath, createObject, isMissing, reasonOf, statusOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { listPods, readList } from './container-lookup.ts'
import { nameAnnotation, nameOf, objectName, ownerAnnotations, ownerLabels, ownerOf, selectorOf } from './labels.ts'

/** Bytes of a home whose template names no size: a claim has to ask for some. */
const defaultHomeSize = 10 * 1024 ** 3

/** A home that a container needs. */
export interface WantedHome {
  readonly volume: string
  /** Bytes; null: the template names none. */
  readonly size: number | null
  readonly owner: Owner
  /** Whether several pods have it at the same time. */
  readonly isShared: boolean
  /** Storage class of a claim that is made now; null: the installation's. */
  readonly storageClass: string | null
}

/** The home that a container needs; undefined for none. */
export const wantedHome = ({ home, owner, cluster }: ContainerSpec): WantedHome | undefined =>
  home
    ? {
        volume: home.volume,
        size: home.size,
        owner: { ...owner, type: home.type ?? owner.type },
        isShared: home.isShared === true,
        storageClass: cluster?.storageClass ?? null,
      }
    : undefined

/** Makes sure of a home: read first, because a quota refuses a creation although the claim exists. */
export async function ensureHome(cluster: ClusterContext, home: WantedHome, signal?: AbortSignal): Promise<void> {
  const name = objectName(home.volume)
  const what = `create ${home.volume}`
  if (name === undefined) throw new RuntimeError('failed', `${what}: the cluster accepts no such name`)
  const { volume, owner } = home
  const wanted = {
    ...home,
    labels: ownerLabels(cluster.installation, owner),
    annotations: { ...ownerAnnotations(owner), ...nameAnnotation(volume) },
  }
  const claim = (await readClaim(cluster, name, signal)) ?? (await createClaim(cluster, name, wanted, signal))
  if (!claim) return ensureHome(cluster, home, signal)
  if (!ownerOf(claim.metadata, cluster.installation))
    throw new RuntimeError('conflict', `${what}: a claim of this name is not of this installation`)
  if (claim.metadata.deletionTimestamp !== undefined)
    throw new RuntimeError('failed', `${what}: the home is being removed`)
  if (home.isShared && !claim.spec?.accessModes?.includes('ReadWriteMany'))
    throw new RuntimeError(
      'failed',
      `${what}: its claim was made for one node (ReadWriteOnce), and types that share it (home_of: user) may run on several; ` +
        'copy it into a claim of this name with ReadWriteMany, or give the types home_of: type',
    )
}

/** Whether there is a home of this name of this installation. @throws {RuntimeError} */
export async function hasHome(cluster: ClusterContext, volume: string): Promise<boolean> {
  const name = objectName(volume)
  const claim = name === undefined ? undefined : await readClaim(cluster, name)
  return claim !== undefined && ownerOf(claim.metadata, cluster.installation) !== null
}

/**
 * @returns whose home this claim is, if of this installation, and whether it has a volume already.
 * @throws {RuntimeError}
 */
export async function findHome(
  cluster: ClusterContext,
  name: string,
): Promise<{ readonly owner: Owner | null; readonly isBound: boolean }> {
  const claim = await readClaim(cluster, name)
  return {
    owner: claim ? ownerOf(claim.metadata, cluster.installation) : null,
    isBound: claim?.spec?.volumeName !== undefined,
  }
}

/** A claim as it is made, with the fields of a home. */
interface WantedClaim extends Pick<WantedHome, 'volume' | 'size' | 'isShared' | 'storageClass'> {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** @returns undefined when another call has made it meanwhile @throws {RuntimeError} */
export async function createClaim(
  cluster: ClusterContext,
  name: string,
  { volume, size, isShared, storageClass, labels, annotations }: WantedClaim,
  signal?: AbortSignal,
): Promise<Claim | undefined> {
  const storageClassName = storageClass ?? cluster.storageClass
  const body = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, labels, annotations },
    spec: {
      accessModes: [isShared ? 'ReadWriteMany' : 'ReadWriteOnce'],
      resources: { requests: { storage: String(size ?? defaultHomeSize) } },
      ...(storageClassName === null ? {} : { storageClassName }),
    },
  }
  const path = corePath(cluster, 'persistentvolumeclaims')
  const call = { what: `create ${volume}`, path, body, timeout: callTimeouts.write, signal }
  try {
    return await createObject<Claim>(cluster.client, call)
  } catch (error) {
    if (reasonOf(error) === 'AlreadyExists') return undefined
    throw error
  }
}

/** Undefined when there is none. @throws {RuntimeError} */
export async function readClaim(
  cluster: ClusterContext,
  name: string,
  signal?: AbortSignal,
): Promise<Claim | undefined> {
  const path = corePath(cluster, 'persistentvolumeclaims', name)
  try {
    return await cluster.client.ask<Claim>({
      what: `inspect ${name}`,
      method: 'GET',
      path,
      timeout: callTimeouts.read,
      signal,
    })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Homes of this installation, with the bytes that their claims ask for. @throws {RuntimeError} */
export async function listHomes(cluster: ClusterContext, userId?: number): Promise<ArchivedHome[]> {
  const { installation } = cluster
  const request = {
    what: 'list homes',
    kind: 'persistentvolumeclaims',
    selector: selectorOf(installation, userId),
  } as const
  const { kept } = await readList(cluster, request, ({ metadata, spec }: Claim) => {
    const owner = ownerOf(metadata, installation)
    // One that is being removed goes as soon as no pod uses it; the cluster sees to it.
    if (!owner || metadata.deletionTimestamp !== undefined) return undefined
    return { volume: nameOf(metadata), owner, ...sizeOf(spec) }
  })
  return kept
}

const sizeOf = (spec: Claim['spec']): { size?: number } => {
  const bytes = Math.round(quantity(spec?.resources?.requests?.storage ?? ''))
  return Number.isNaN(bytes) ? {} : { size: bytes }
}

/** The cluster keeps a claim while a pod uses it; here the caller learns of it instead. */
export async function removeHome(cluster: ClusterContext, volume: string): Promise<void> {
  const name = objectName(volume)
  const claim = name === undefined ? undefined : await readClaim(cluster, name)
  const owner = claim && ownerOf(claim.metadata, cluster.installation)
  // A home is in pods of its owner only; a list of all for each home would be a page for every 500.
  if (owner) await removeClaim(cluster, claim, owner.userId)
}

/**
 * Removes this claim, and no other that has got its name meanwhile.
 * @param userId whose pods alone can have it; undefined: those of all people @throws {RuntimeError} `conflict` when a pod has it
 */
export async function removeClaim(cluster: ClusterContext, { metadata }: Claim, userId?: number): Promise<void> {
  const { name, uid } = metadata
  const what = `remove ${nameOf(metadata)}`
  const isUsed = (await listPods(cluster, userId)).some(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
  )
  if (isUsed) throw new RuntimeError('conflict', `${what}: a pod has it`)
  const path = corePath(cluster, 'persistentvolumeclaims', name)
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
  try {
    await cluster.client.ask({ what, method: 'DELETE', path, body, timeout: callTimeouts.write })
  } catch (error) {
    if (!isMissing(error) && statusOf(error) !== 409) throw error
  }
}
