import type { Logger } from 'pino'
import { attempt } from '#/attempt.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import { statusWords } from './status.ts'
import type { Template, Templates } from './template.ts'

/** One configured type of a user, with the record and the status when there are any. */
export interface ListedContainer {
  readonly template: Template
  readonly record: UserContainer | undefined
  readonly status: string
}

/**
 * One entry per configured type, in the configured order. Asks the engine once, whatever the number of types, and not
 * at all when nothing was created. Source: specification, `GET /api/user/containers`.
 */
export async function listContainers(
  runtime: Runtime,
  templates: Templates,
  userId: number,
  records: readonly UserContainer[],
  log: Pick<Logger, 'warn'>,
): Promise<ListedContainer[]> {
  const ids = records.flatMap(({ containerId }) => containerId ?? [])
  const instances =
    ids.length > 0 ? await attempt(log, `listing the containers of user ${userId}`, () => runtime.list({ ids })) : []
  const stateById = instances && new Map(instances.map(({ id, state }) => [id, state]))
  const recordByType = new Map(records.map((record) => [record.type, record]))
  return templates.all().map((template) => {
    const record = recordByType.get(template.type)
    return { template, record, status: statusOf(record, stateById) }
  })
}

function statusOf(record: UserContainer | undefined, stateById: ReadonlyMap<string, string> | undefined): string {
  if (!record?.containerId) return statusWords.notCreated
  if (!stateById) return statusWords.error
  return stateById.get(record.containerId) ?? statusWords.notFound
}
