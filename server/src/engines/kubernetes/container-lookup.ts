import type { ListFilter, RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ObjectList, Pod } from './api-objects.ts'
import { callTimeouts, corePath, isMissing, statusOf, type ClusterNamespace } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { objectName, ownerOf, selectorOf } from './labels.ts'
import type { KnownPod } from './pod-index.ts'
import { stateOf, toContainer } from './pod-state.ts'

/** Ids up to which each is asked by its name; more are taken from a list. */
const maxByName = 8

/** The pod of exactly this name, another installation's included. */
export async function inspect(cluster: ClusterContext, name: string): Promise<RuntimeContainer | undefined> {
  const pod = await readPod(cluster, objectName(name), `inspect ${name}`)
  const container = pod && toContainer(cluster.installation, pod)
  return container?.name === name ? container : undefined
}

export async function inspectId(cluster: ClusterContext, uid: string): Promise<RuntimeContainer | undefined> {
  const pod = await findPod(cluster, uid)
  return pod && toContainer(cluster.installation, pod)
}

/** The pod of this uid, if it is this installation's. @throws {RuntimeError} */
export async function findPod(cluster: ClusterContext, uid: string, signal?: AbortSignal): Promise<Pod | undefined> {
  const { index, installation } = cluster
  // A list that was under way already may be older than the pod.
  for (let left = index.mayMiss ? 2 : 1; left > 0 && index.nameOf(uid) === undefined; left--)
    await index.completed(() => indexPods(cluster))
  const pod = await readPod(cluster, index.nameOf(uid), `inspect ${uid}`, signal)
  if (pod?.metadata.uid === uid && ownerOf(pod.metadata, installation)) return pod
  // Its name is free, or another's: a uid does not come back.
  index.noteGone(uid)
  return undefined
}

/** The name of the pod of this uid, which runs. @throws {RuntimeError} `missing` · `conflict` in any other state */
export async function findRunning(
  cluster: ClusterContext,
  uid: string,
  what: string,
  signal: AbortSignal,
): Promise<string> {
  const pod = await findPod(cluster, uid, signal)
  if (!pod) throw new RuntimeError('missing', what)
  if (stateOf(pod) !== 'running') throw new RuntimeError('conflict', what)
  return pod.metadata.name
}

/** The pod of this name in the cluster, of any owner; undefined for none. @throws {RuntimeError} */
export async function readPod(
  cluster: ClusterContext,
  name: string | undefined,
  what: string,
  signal?: AbortSignal,
): Promise<Pod | undefined> {
  if (name === undefined) return undefined
  const path = corePath(cluster, 'pods', name)
  try {
    return await cluster.client.ask<Pod>({ what, method: 'GET', path, timeout: callTimeouts.read, signal })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export async function listContainers(
  cluster: ClusterContext,
  { userId, ids, isUp = false }: ListFilter = {},
): Promise<RuntimeContainer[]> {
  const wanted = ids && new Set(ids)
  const toWanted = (listed: RuntimeContainer): RuntimeContainer | undefined => {
    if (wanted?.has(listed.id) === false || (isUp && listed.state !== 'running')) return undefined
    return listed.owner !== null && (userId === undefined || listed.owner.userId === userId) ? listed : undefined
  }
  if (ids && ids.length <= maxByName)
    return (await findEach(cluster, ids)).flatMap((pod) => toWanted(cluster.index.knownOf(pod).listed) ?? [])
  if (!ids && userId === undefined) {
    const watched = await listWatched(cluster, isUp)
    if (watched) return watched.flatMap((listed) => toWanted(listed) ?? [])
  }
  return (await listWithVersion(cluster, (_, listed) => toWanted(listed), ids ? undefined : userId)).kept
}

/**
 * All pods as the watch has told, where that may answer a list (`WatchState.canAnswer`), and the API server answers
 * now: a watch that has nothing to tell is no proof that it does. While a watch begins its list is waited for, so that
 * at the start all share one.
 * @throws {RuntimeError} when the API server does not answer
 */
async function listWatched(
  { index, ...cluster }: ClusterContext,
  isUp: boolean,
): Promise<RuntimeContainer[] | undefined> {
  await index.watch.settled()
  if (!index.watch.canAnswer(isUp)) return undefined
  await checkAccess(cluster)
  return index.watch.canAnswer(isUp) ? index.listed() : undefined
}

/**
 * Whether this account may list pods of the namespace at all.
 * @throws {RuntimeError} `failed` with the words of the API server
 */
export async function checkAccess(cluster: ClusterNamespace): Promise<void> {
  const query = { labelSelector: selectorOf(cluster.installation), limit: '1' }
  const call = { what: 'list pods', method: 'GET', path: corePath(cluster, 'pods'), query } as const
  await cluster.client.ask({ ...call, timeout: callTimeouts.list })
}

async function findEach(cluster: ClusterContext, ids: readonly string[]): Promise<Pod[]> {
  return (await Promise.all(ids.map((id) => findPod(cluster, id)))).flatMap((pod) => pod ?? [])
}

/** All pods of one user, or of the installation, with what this adapter reads of them. @throws {RuntimeError} */
export async function listPods(cluster: ClusterContext, userId?: number): Promise<Pod[]> {
  return (await listWithVersion(cluster, withoutUnused, userId)).kept
}

/** Reads all pods of the installation for the index alone. @throws {RuntimeError} */
async function indexPods(cluster: ClusterContext): Promise<void> {
  await listWithVersion(cluster, () => undefined)
}

/**
 * All pods of the installation, or of one user; a list of all also completes the index.
 * @param keep as `readList`, also of how lists show the pod
 * @returns also the version of the list, from which a watch continues @throws {RuntimeError}
 */
export async function listWithVersion<K>(
  cluster: ClusterContext,
  keep: (pod: Pod, listed: RuntimeContainer) => K | undefined,
  userId?: number,
): Promise<{ readonly kept: K[]; readonly version: string }> {
  const { index, installation } = cluster
  const listing = index.beginListing()
  const all = new Map<string, KnownPod>()
  const request = { what: 'list pods', kind: 'pods', selector: selectorOf(installation, userId) } as const
  const keepKnown = (pod: Pod) => {
    const known = index.knownOf(pod)
    if (known.listed.owner) all.set(pod.metadata.uid, known)
    return keep(pod, known.listed)
  }
  try {
    const found = await readList(cluster, request, keepKnown, () => all.clear())
    if (userId === undefined) index.noteAll(all, listing)
    return found
  } finally {
    index.endListing(listing)
  }
}

/** A pod without what nothing here reads: who set which field when, and how it is started, is most of it. */
function withoutUnused({ metadata, spec, status }: Pod): Pod {
  const { managedFields: _, ...kept } = metadata as Pod['metadata'] & { readonly managedFields?: unknown }
  return {
    metadata: kept,
    ...(spec && { spec: usedOf(spec) }),
    ...(status && { status }),
  }
}

const usedOf = ({ nodeName, tolerations, volumes = [] }: NonNullable<Pod['spec']>): NonNullable<Pod['spec']> => ({
  ...(nodeName === undefined ? {} : { nodeName }),
  ...(tolerations && { tolerations }),
  volumes: volumes.filter(({ persistentVolumeClaim }) => persistentVolumeClaim),
})

/**
 * Objects per page. What is parsed of a page of 250 pods (7 KB each, half of which is skipped) takes some 5 ms and dies
 * young; what pages of 500 left was copied within the heap, and made a process with 20,000 pods 250 MB larger. Pages of
 * 100 took a sixth longer.
 */
const pageSize = 250

export interface ListRequest {
  /** What is being done, for the error and the metrics (`ClusterCall.what`). */
  readonly what: string
  readonly kind: 'pods' | 'persistentvolumeclaims'
  readonly selector: string
}

/**
 * Reads a list in pages, each of which is asked for while the one before is parsed, and begins again, once, when the
 * API server has forgotten the first one (410).
 * @param keep what stays of an object; the rest of a page is dropped before the next one is asked for. Undefined:
 *   nothing
 * @param onRestart what `keep` was called for so far does not count
 * @returns also the version of the list, from which a watch continues
 * @throws {RuntimeError} when a page does not come: a part of a list is never returned
 */
export async function readList<T, K>(
  cluster: Pick<ClusterNamespace, 'client' | 'namespace'>,
  request: ListRequest,
  keep: (object: T) => K | undefined,
  onRestart: () => void = () => undefined,
): Promise<{ readonly kept: K[]; readonly version: string }> {
  return readPages(cluster, request, keep).catch((error: unknown) => {
    if (statusOf(error) !== 410) throw error
    onRestart()
    return readPages(cluster, request, keep)
  })
}

async function readPages<T, K>(
  cluster: Pick<ClusterNamespace, 'client' | 'namespace'>,
  { what, kind, selector }: ListRequest,
  keep: (object: T) => K | undefined,
): Promise<{ kept: K[]; version: string }> {
  const kept: K[] = []
  /** Pages that were asked for before they were needed, by their tokens. */
  const ahead = new Map<string, Promise<ObjectList<T>>>()
  const page = { labelSelector: selector, limit: String(pageSize) }
  const ask = (token?: string): Promise<ObjectList<T>> =>
    cluster.client.ask<ObjectList<T>>(
      {
        what,
        method: 'GET',
        path: corePath(cluster, kind),
        query: token === undefined ? page : { ...page, continue: token },
        timeout: callTimeouts.list,
      },
      (text) => {
        askAhead(tokenAtBegin(text))
        return withoutManagedFields(text)
      },
    )
  const askAhead = (token: string | undefined) => {
    if (token === undefined) return
    const next = ask(token)
    // It is awaited after the page before, if at all.
    next.catch(() => undefined)
    ahead.set(token, next)
  }
  for (let asked = ask(); ;) {
    const { metadata, items } = await asked
    for (const object of items) {
      const each = keep(object)
      if (each !== undefined) kept.push(each)
    }
    const next = metadata.continue
    if (!next) return { kept, version: metadata.resourceVersion ?? '' }
    asked = ahead.get(next) ?? ask(next)
    ahead.delete(next)
  }
}

/**
 * The token of the next page, without parsing this one: API servers write a list's metadata before its items, so that
 * the next page can be on its way meanwhile.
 * @returns undefined where it is not found there; `metadata.continue` decides
 */
function tokenAtBegin(page: string): string | undefined {
  const [, token] =
    /^\{"kind":"\w+","apiVersion":"[\w/.]+","metadata":\{[^{}[\]]*"continue":"([^"\\]+)"/.exec(page) ?? []
  return token
}

/** API servers write it in this form; within a string its quotes would be escaped. */
const managedFieldsKey = '"managedFields":['
const [quote, backslash, bracket, endOfBracket] = [0x22, 0x5c, 0x5b, 0x5d]

/**
 * The JSON of objects without the record of who set which field when, which is half of a pod, and which nothing here
 * reads: to skip it takes a quarter of the time that it takes to parse it, and leaves nothing behind in memory.
 * @param json of an API server; what is no JSON stays none
 */
export function withoutManagedFields(json: string): string {
  const parts: string[] = []
  let kept = 0
  for (let at = json.indexOf(managedFieldsKey); at !== -1; at = json.indexOf(managedFieldsKey, kept)) {
    const end = endOfArray(json, at + managedFieldsKey.length - 1)
    if (end === -1) break
    parts.push(json.slice(kept, at), '"managedFields":null')
    kept = end
  }
  return kept === 0 ? json : parts.join('') + json.slice(kept)
}

/** @param begin of the array @returns where it has ended; -1 when it does not */
function endOfArray(json: string, begin: number): number {
  let depth = 0
  for (let at = begin; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) {
      at = endOfString(json, at)
      if (at === -1) return -1
    } else if (char === bracket) depth++
    else if (char === endOfBracket && --depth === 0) return at + 1
  }
  return -1
}

/** @param begin where its first quote is @returns where its last one is; -1 when there is none */
function endOfString(json: string, begin: number): number {
  for (let at = json.indexOf('"', begin + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at
    while (json.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return -1
}
