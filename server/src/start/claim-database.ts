import type { Logger } from 'pino'
import type { Config } from '#/config/config.ts'
import { isProcessAlive } from '#/machine/process-alive.ts'
import { holdDataFolder, holdNodeLock, type DataFolderLock } from '#/store/database-lock.ts'
import { readPidFile } from '@berth/gateway/supervisor/run-folder.ts'

/** What is not referred to is closed by the garbage collector, and releases its lock. */
const held: DataFolderLock[] = []

/** In ms. An API process whose gateway process was killed finishes what is under way, for 20 s at most, and ends then. */
const [usualTimeout, endOfOrphan] = [8_000, 25_000]

const waiting = 'another Berth uses this database, or has just ended; it is waited for'

/**
 * Makes sure that no other service uses the database, until this process ends: two that do not know of each other would each conduct
 * the containers of the other's users, and let pass whom the other has blocked.
 * @param onTaken called once when PostgreSQL's lock was lost, and another process has taken it since: this one has to end
 * @throws {Error} for the operator, when another service uses it, and not both have a `NODE_ADDRESS`, or a pooler keeps
 * no sessions
 */
export async function claimDatabase(
  { databaseUrl, dataDir, node }: Config,
  log: Pick<Logger, 'warn' | 'fatal'>,
  onTaken: (reason: string) => void,
): Promise<void> {
  const onWait = () => log.warn(waiting)
  if (databaseUrl === null) {
    const lock = await holdDataFolder(dataDir, { onWait, timeout: isServed(dataDir) ? usualTimeout : endOfOrphan })
    if (!lock) throw new Error(inUse(dataDir))
    held.push(lock)
    return
  }
  await holdNodeLock(databaseUrl, node ? { address: node.address.text } : 'alone', {
    onWait,
    onScarce: (reason) => log.warn(reason),
    onTaken: (reason) => {
      log.fatal({ err: reason }, 'the connection that kept the database for this Berth was lost')
      onTaken(reason.message)
    },
  })
}

/** Whether the service that said last that it uses the folder lives, as far as its process id tells. */
const isServed = (dataDir: string) => isProcessAlive(readPidFile(dataDir)?.pid ?? 0)

function inUse(dataDir: string): string {
  const service = readPidFile(dataDir)
  const which = service ? ` (process ${service.pid}, started ${service.since.toISOString()})` : ''
  return `another Berth${which} uses the data folder ${dataDir}: stop that one, or give this one a folder of its own with DATA_DIR; or a command of Berth, such as a restore, is under way`
}
