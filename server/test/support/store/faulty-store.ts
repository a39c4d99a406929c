import type { KyselyPlugin, OperationNode } from 'kysely'
import type { Database } from '#/store/database.ts'
import { StoreFailure } from '#/store/store-failure.ts'

/** What a test does to the queries of a store. */
export interface StoreFault {
  /** Whether this query fails, e.g. `select users` or `update user_containers`. */
  fails?: (query: string) => boolean
  /** Queries fail because the disk is full. */
  isFull?: boolean
  /** Resolves when the answer to this query may arrive. */
  delay?: (query: string) => Promise<void> | undefined
}

/** A real store some of whose queries fail, or are answered late, as the test says. */
export function faultyStore(database: Database, fault: StoreFault): Database {
  const queries = new WeakMap<object, string>()
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      const query = nameOf(node)
      queries.set(queryId, query)
      if (fault.fails?.(query)) throw new StoreFailure(`${query} fails in this test`, undefined, fault.isFull)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      await fault.delay?.(queries.get(queryId) ?? '')
      return result
    },
  }
  const db = database.db.withPlugin(plugin)
  return { ...database, db, transaction: (work) => db.transaction().execute(work) }
}

/** Its verb, and the first table that it is about. */
function nameOf(node: OperationNode): string {
  const [, table] = /"kind":"IdentifierNode","name":"(\w+)"/.exec(JSON.stringify(node)) ?? []
  return `${node.kind.replace('QueryNode', '').toLowerCase()} ${table ?? ''}`.trim()
}
