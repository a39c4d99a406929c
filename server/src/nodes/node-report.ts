import { readLease } from '#/store/leader-lease.ts'
import { listNodes, type NodeStatus } from '#/store/node-records.ts'
import type { NodeDb } from '#/store/node-tables.ts'
import type { GatewayGroup } from './gateway-group.ts'
import { nodeTimes } from './node-times.ts'

/** Nodes of this installation, for administrators. */
export interface NodeReport {
  /** Of this node's program. */
  readonly version: string
  /** @throws {StoreFailure} */
  list(): Promise<NodeStatus[]>
  /** For `/metrics`. @throws {StoreFailure} */
  counts(): Promise<Readonly<Record<string, number>>>
}

/** @param group gateways of the nodes, at the leader @param version of this node's program */
export function nodeReport(db: NodeDb, group: GatewayGroup, version: string): NodeReport {
  const list = async () => {
    const [nodes, lease] = await Promise.all([listNodes(db, nodeTimes.alive), readLease(db, nodeTimes.lease)])
    const current = new Set(group.current)
    return nodes.map((each) => ({
      ...each,
      isCurrent: current.has(each.address),
      leadsSince: each.address === lease.node ? lease.since : null,
    }))
  }
  const counts = async () => {
    const [nodes, lease] = await Promise.all([list(), readLease(db, nodeTimes.lease)])
    const series = nodes.flatMap(({ address, isAlive, isCurrent, leadsSince }) => [
      [`berth_node_alive{node="${address}"}`, Number(isAlive)] as const,
      [`berth_node_current{node="${address}"}`, Number(isCurrent)] as const,
      [`berth_node_leads{node="${address}"}`, Number(leadsSince !== null)] as const,
    ])
    return Object.fromEntries([...series, ['berth_leader_epoch', lease.epoch] as const])
  }
  return { version, list, counts }
}
