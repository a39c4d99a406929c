import { openDatabase } from '#/store/database.ts'
import { hasNodeTables, listNodes } from '#/store/nodes/node-records.ts'
import type { NodeDb } from '#/store/nodes/node-tables.ts'
import { nodeTimes } from './node-times.ts'

/** Nodes of another version run. The message is for the operator. */
export class OtherVersionRuns extends Error {
  constructor(address: string, theirs: string, ours: string) {
    super(
      `node ${address} runs version ${theirs}, this is ${ours}: stop all nodes, start this version on one of them, then on the others`,
    )
    this.name = 'OtherVersionRuns'
  }
}

/**
 * Brings the tables of the store up to date, which no node may do while others of another version use them.
 * @param address of this node, of which an earlier process may seem alive @throws {OtherVersionRuns} · as `openDatabase`
 */
export async function prepareStore(db: NodeDb, url: string, address: string, version: string): Promise<void> {
  if (await hasNodeTables(db)) {
    const others = (await listNodes(db, nodeTimes.alive)).filter((each) => each.isAlive && each.address !== address)
    const other = others.find((each) => each.version !== version)
    if (other) throw new OtherVersionRuns(other.address, other.version, version)
    if (others.length > 0) return
  }
  const database = await openDatabase(url, '')
  await database.close()
}
