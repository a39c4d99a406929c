import type { ObjectList } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { statusOf } from './cluster-errors.ts'
import { withoutManagedFields } from './without-managed-fields.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'

/**
 * Objects per page. What is parsed of a page of 250 pods (7 KB each, half of which is skipped) takes some 5 ms and dies young; what
 * pages of 500 left was copied within the heap, and made a process with 20,000 pods 250 MB larger. Pages of 100 took a sixth longer.
 */
const pageSize = 250

export interface ListRequest {
  /** As in `ClusterCall`. */
  readonly what: string
  readonly kind: 'pods' | 'persistentvolumeclaims'
  readonly selector: string
}

/**
 * Reads a list in pages, each of which is asked for while the one before is parsed, and begins again, once, when the API server has forgotten the first one (410).
 * @param keep what stays of an object; the rest of a page is dropped before the next one is asked for. Undefined: nothing
 * @param onRestart what `keep` was called for so far does not count
 * @returns also the version of the list, from which a watch continues
 * @throws {RuntimeError} when a page does not come: a part of a list is never returned
 */
export async function readList<T, K>(
  cluster: Pick<ClusterContext, 'client' | 'namespace'>,
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
  cluster: Pick<ClusterContext, 'client' | 'namespace'>,
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
 * The token of the next page, without parsing this one: API servers write a list's metadata before its items, so that the next page
 * can be on its way meanwhile. @returns undefined where it is not found there; `metadata.continue` decides
 */
function tokenAtBegin(page: string): string | undefined {
  const [, token] =
    /^\{"kind":"\w+","apiVersion":"[\w/.]+","metadata":\{[^{}[\]]*"continue":"([^"\\]+)"/.exec(page) ?? []
  return token
}
