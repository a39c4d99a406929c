import type { UserContainer } from '#/store/user-containers.ts'
import { statusWords, type StatusLookup, type StatusLookups } from './status-lookups.ts'
import type { RestartRequests } from './restart-requests.ts'
import type { Template } from '#/templates/template.ts'

/** One configured type of a user, with the record and the status when there are any. */
export interface ListedContainer {
  readonly template: Template
  readonly record: UserContainer | undefined
  readonly status: string
  /** An administrator asks its owner to restart it, because it is of an older version. */
  readonly isRestartAsked: boolean
}

/**
 * One entry per given type, in the given order. Asks the engine once, whatever the number of types, and not
 * at all when nothing was created; each container by itself when that is not answered. Source: specification, `GET /api/user/containers`.
 */
export async function listContainers(
  statuses: Pick<StatusLookups, 'ofEach'>,
  templates: readonly Template[],
  records: readonly UserContainer[],
  restartRequests: Pick<RestartRequests, 'has'>,
): Promise<ListedContainer[]> {
  const types = new Set(templates.map(({ type }) => type))
  const seen = records.filter(({ type }) => types.has(type))
  const found = await statuses.ofEach(seen.flatMap(({ containerId }) => containerId ?? []))
  const recordByType = new Map(records.map((record) => [record.type, record]))
  return templates.map((template) => {
    const record = recordByType.get(template.type)
    const id = record?.containerId ?? null
    const status = statusOf(record, found)
    // The next start of a stopped one brings the new version without being asked for it.
    const mayBeAsked = status === 'running' || status === 'paused'
    const isRestartAsked = id !== null && mayBeAsked && restartRequests.has(id)
    return { template, record, status, isRestartAsked }
  })
}

function statusOf(record: UserContainer | undefined, found: ReadonlyMap<string, StatusLookup>): string {
  if (!record?.containerId) return statusWords.notCreated
  const status = found.get(record.containerId)
  return status && 'state' in status ? status.state : statusWords.error
}
