import { StatusLookups, statusWords, type StatusLookup } from '#/containers/routes/own-containers.ts'
import type { Runtime } from '#/engines/runtime.ts'

/**
 * Statuses of containers that the engine has. One that it does not have, or says nothing of, is the leader's to explain: a follower
 * may not have heard yet of a pod that the leader has created, or not reach an engine that the leader reaches.
 */
export function knownStatuses(
  runtime: Pick<Runtime, 'inspectId' | 'list' | 'capabilities'>,
): Pick<StatusLookups, 'of' | 'ofEach'> {
  const lookups = new StatusLookups(runtime)
  const absent = runtime.capabilities.keepsStopped ? statusWords.notFound : statusWords.stopped
  const known = (lookup: StatusLookup): StatusLookup => {
    if ('failure' in lookup || lookup.state === absent)
      throw new Error('the leader explains a container that is not found')
    return lookup
  }
  return {
    of: async (id) => known(await lookups.of(id)),
    ofEach: async (ids) => {
      const found = await lookups.ofEach(ids)
      for (const lookup of found.values()) known(lookup)
      return found
    },
  }
}
