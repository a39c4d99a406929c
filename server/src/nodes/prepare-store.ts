import { refuseStoreOfNewerVersion } from '#/store/migrate.ts'
import { hasNodeTables, listNodes } from '#/store/node-records.ts'
import type { NodeDb } from '#/store/node-tables.ts'
import type { CopiedStore } from '#/store/open/copy-before-migration.ts'
import { migrateWithCopy } from '#/store/open/migrate-with-copy.ts'
import { nodeTimes } from './node-times.ts'

/** Nodes run that speak another protocol. The message is for the operator. */
export class OtherProtocolRuns extends Error {
  constructor(address: string, theirs: string, ours: string) {
    super(
      `node ${address} runs version ${theirs}, this is ${ours}, and their nodes do not understand each other: ` +
        'stop all nodes, start this version on one of them, then on the others',
    )
    this.name = 'OtherProtocolRuns'
  }
}

/** The program of a node. */
export interface NodeProgram {
  readonly version: string
  /** `protocolVersion`: nodes of two versions run side by side if it is the same. */
  readonly protocol: number
}

/**
 * Whether this program may run as a node of the store. Without other nodes it brings the tables up to date, and copies a store
 * that was used before that; beside others it changes nothing: the first node of a newer version that leads does.
 * @param address of this node, of which an earlier process may seem alive
 * @returns what was copied; undefined when nothing was
 * @throws {OtherProtocolRuns} @throws {NewerStore} · as `migrateWithCopy`
 */
export async function prepareStore(
  db: NodeDb,
  url: string,
  address: string,
  program: NodeProgram,
): Promise<CopiedStore | undefined> {
  if (await hasNodeTables(db)) {
    await refuseStoreOfNewerVersion(db)
    const others = (await listNodes(db, nodeTimes.alive)).filter((each) => each.isAlive && each.address !== address)
    const other = others.find(({ protocol }) => protocol !== program.protocol)
    if (other) throw new OtherProtocolRuns(other.address, other.version, program.version)
    if (others.length > 0) return undefined
  }
  return migrateWithCopy(url, new Date())
}
