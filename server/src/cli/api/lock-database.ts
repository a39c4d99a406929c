import { holdNodeLock, type NodeLock } from '#/store/nodes/node-lock.ts'
import { CommandFailed, reasonOf } from '../command-failure.ts'

/**
 * Keeps Berth on all other machines from a PostgreSQL database while a command uses it.
 * @param url null: SQLite, which is on this machine @throws {CommandFailed} when one uses it now
 */
export async function lockDatabase(url: string | null): Promise<NodeLock | undefined> {
  if (url === null) return undefined
  try {
    return await holdNodeLock(url, 'alone', { onTaken: () => undefined })
  } catch (error) {
    throw new CommandFailed(`Berth does not run here, and its store cannot be used: ${reasonOf(error)}`)
  }
}
