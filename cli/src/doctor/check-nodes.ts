import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { readReplication } from '@berth/server/store/replication.ts'
import type { CheckContext, Finding } from './check.ts'

type Nodes = SystemReport['nodes']

/** Whether the nodes of this installation can take over from each other. */
export async function checkNodes({ config, service }: CheckContext): Promise<Finding[]> {
  if (!config.node) return []
  const nodes = service === null || typeof service === 'string' ? [] : service.nodes
  return [
    ...nodes.flatMap(stateOf),
    ...numberOf(nodes),
    ...versionsOf(nodes),
    ...(await replicationOf(config.databaseUrl)),
  ]
}

function stateOf({ address, is_alive, is_current, seen_at }: Nodes[number]): Finding[] {
  if (!is_alive)
    return [
      {
        level: 'warning',
        what: `Node ${address} has sent no heartbeat since ${seen_at}.`,
        fix: 'start it, or see its log; a node that was taken away for good is forgotten after a day',
      },
    ]
  if (is_current) return []
  return [
    {
      level: 'critical',
      what: `Node ${address} refuses containers, because it does not reach the node that leads: a load balancer may still send it requests.`,
      fix: `on that node: can it connect to NODE_ADDRESS of the leader, and the leader to ${address}? See its log`,
    },
  ]
}

function numberOf(nodes: Nodes): Finding[] {
  if (nodes.length === 0 || nodes.filter(({ is_alive }) => is_alive).length > 1) return []
  const what = 'One node runs, with NODE_ADDRESS: no other one takes over when it ends.'
  return [{ level: 'hint', what, fix: 'start a second one: docs/how-to/run-several-nodes.md' }]
}

function versionsOf(nodes: Nodes): Finding[] {
  const versions = [...new Set(nodes.filter(({ is_alive }) => is_alive).map(({ version }) => version))].sort()
  if (versions.length < 2) return []
  const what = `Nodes run versions ${versions.join(' and ')}: an upgrade is not finished.`
  return [{ level: 'hint', what, fix: 'upgrade the others: docs/how-to/run-several-nodes.md' }]
}

/** @throws {StoreFailure} when the database does not answer, which another check reports */
async function replicationOf(databaseUrl: string | null): Promise<Finding[]> {
  if (databaseUrl === null) return []
  const { standbys, synchronous } = await readReplication(databaseUrl)
  if (standbys === 0 || synchronous !== 0) return []
  return [
    {
      level: 'warning',
      what: 'PostgreSQL replicates to its standby asynchronously: a failover may lose what was answered last, such as a block.',
      fix: 'set synchronous_standby_names in PostgreSQL',
    },
  ]
}
