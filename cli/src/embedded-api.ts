import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { openParts } from '@berth/server/start/adapters.ts'
import { startApp } from '@berth/server/start/app.ts'
import { readConfig, type Config } from '@berth/server/config/config.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { unfinishedRestore } from '@berth/server/machine/data-folder.ts'
import { makeRunFolder, removeRunFolder } from '@berth/gateway/supervisor/run-folder.ts'
import { CommandFailed, reasonOf } from './command-failure.ts'
import { lockDatabase, storeLocationOf, type StoreLock } from './lock-database.ts'

/** The API for one command, while no service runs. */
export interface EmbeddedApi {
  readonly socket: string
  /** Stops it. @returns whether work for the engine is pending, which the next start of the service does */
  close(): Promise<boolean>
}

/**
 * Starts the API in this process, without a gateway and without periodic tasks; it listens on the operator's socket
 * alone, in a folder of its own.
 * @param notify gets what the operator must know, whatever the level of the log: a store of an older version is migrated
 * @throws {CommandFailed} when the settings are wrong, the data folder is missing or belongs to another operating
 * system user, or another process uses the store
 */
export async function startEmbeddedApi(
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
  notify: (notice: string) => void,
): Promise<EmbeddedApi> {
  const config = requireConfig(env)
  requireOwnData(config)
  const lock = await keepDatabase(config)
  const folder = makeRunFolder()
  try {
    const socket = path.join(folder, 'operator.sock')
    const app = await startApp({
      ...(await openParts(config, log, { notify })),
      gateway: noopGateway(config.port),
      socketPath: path.join(folder, 'api.sock'),
      operatorSocket: socket,
      webDir: emptyPages(folder),
      isForOneCommand: true,
    })
    const close = async () => {
      const isWorkLeft = app.isWorkLeft()
      await app.close()
      await lock.release()
      removeRunFolder(folder)
      return isWorkLeft
    }
    return { socket, close }
  } catch (error) {
    await lock.release()
    removeRunFolder(folder)
    throw new CommandFailed(`Berth does not run, and its store cannot be used without it: ${reasonOf(error)}`)
  }
}

/** Another command, or the API of a service that was killed, may be about to end; in ms. */
const otherCommandTimeout = 8_000

/** What a command changes in the store alone, a Berth that runs elsewhere would not learn. @throws {CommandFailed} */
async function keepDatabase(config: Config): Promise<StoreLock> {
  if (config.node !== null)
    throw new CommandFailed('No node of Berth runs here, and with NODE_ADDRESS commands need one: start it first.')
  return lockDatabase(storeLocationOf(config), otherCommandTimeout)
}

function requireConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { config, problems } = readConfig(env, (file) => readFileSync(file, 'utf8'))
  if (config) return config
  const lines = problems.map((problem) => `  - ${problem}`)
  throw new CommandFailed(['Berth does not run, and these settings are wrong:', ...lines].join('\n'))
}

/** The service could not write a store that root created; and a new, empty store is never what the operator wants. */
function requireOwnData({ dataDir, databaseUrl }: Config): void {
  const made = databaseUrl === null ? /^berth\.sqlite$/ : /^signing-key/
  const unfinished = unfinishedRestore(dataDir)
  if (unfinished !== undefined) throw new CommandFailed(unfinished)
  const file = existsSync(dataDir) ? readdirSync(dataDir).find((name) => made.test(name)) : undefined
  if (file === undefined) {
    throw new CommandFailed(
      `There is no Berth in ${dataDir}. Set DATA_DIR (and DATABASE_URL, when it has one) as for the service.`,
    )
  }
  const { uid } = statSync(path.join(dataDir, file))
  if (uid === process.getuid?.()) return
  throw new CommandFailed(
    `Berth does not run, and its files in ${dataDir} belong to another account. Run this as that one: sudo -u '#${uid}'.`,
  )
}

/** A gateway that forwards nothing: no requests reach this process through one. @param port the one that links name */
function noopGateway(port: number): Gateway {
  return {
    listen: () => Promise.resolve(port),
    serve: () => Promise.resolve(),
    replace: () => Promise.resolve(),
    apply: () => Promise.resolve(),
    hold: () => Promise.resolve(true),
    counts: () => Promise.resolve({}),
  }
}

/** An empty front end: commands work before it is built. */
function emptyPages(folder: string): string {
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '')
  return folder
}
