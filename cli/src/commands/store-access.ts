import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { readConfig, type Config } from '@berth/server/config/config.ts'
import { CommandFailed } from '#/command-failure.ts'
import { findService } from '#/find-service.ts'
import type { CommandContext } from '#/with-api.ts'

/** For commands that open store and files themselves, and not through the API. */

/** The settings. @throws {CommandFailed} when they are wrong */
export function requireSettings({ env, settingProblems }: CommandContext): Config {
  const { config, problems } = readConfig(env, (file) => readFileSync(file, 'utf8'))
  const wrong = [...settingProblems, ...problems]
  if (config && wrong.length === 0) return config
  throw new CommandFailed(['These settings are wrong:', ...wrong.map((problem) => `  - ${problem}`)].join('\n'))
}

/** `NODE_SECRET`, also for a command that needs no settings. @returns null when there is none, or a setting is wrong */
export function nodeSecretOf(env: CommandContext['env']): string | null {
  return readConfig(env, (file) => readFileSync(file, 'utf8')).config?.node?.secret ?? null
}

/** Files that root creates beside the store could not be used by the service. @throws {CommandFailed} */
export function requireStoreOwner({ dataDir, databaseUrl }: Config): void {
  const file = path.join(dataDir, databaseUrl === null ? 'berth.sqlite' : 'signing-key.json')
  if (!existsSync(file))
    throw new CommandFailed(`There is no Berth in ${dataDir}. Set DATA_DIR (and DATABASE_URL) as for the service.`)
  requireOwner(file)
}

/** @throws {CommandFailed} when a file or folder belongs to another account */
export function requireOwner(file: string): void {
  const { uid } = statSync(file)
  if (uid === process.getuid?.()) return
  throw new CommandFailed(`${file} belongs to another account. Run this as that one: sudo -u '#${uid}'.`)
}

/** @throws {CommandFailed} when Berth runs on this data folder */
export async function requireStopped({ dataDir, terminal, signal }: CommandContext): Promise<void> {
  const service = await findService({ dataDir, note: (line) => terminal.note(line), signal })
  if (service) throw new CommandFailed(`Berth runs (process ${service.pid}). Stop it first; containers keep running.`)
}

/** Version of this program. */
export function version(): string {
  const file = path.resolve(import.meta.dirname, '../../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** A failure that its words explain, as a failure of the command; another error as it is. */
export function inWords(error: unknown): unknown {
  const { name, message, cause, syscall } = error as NodeJS.ErrnoException
  const isExpected = ['BackupProblem', 'NewerStore', 'StoreCopyProblem', 'StoreFailure', 'RuntimeError'].includes(name)
  // Of PostgreSQL, such as a full disk or a missing right; only its server gives a severity.
  const isOfDatabase = (error as { readonly severity?: unknown }).severity !== undefined
  if (isOfDatabase) return new CommandFailed(`PostgreSQL refuses it: ${message}`)
  if (!isExpected && syscall === undefined) return error
  return new CommandFailed(cause instanceof Error ? `${message}: ${cause.message}` : message)
}

/** @param words why the command needs Docker, and what to do @throws {CommandFailed} with `ENGINE=kubernetes` */
export function requireDocker({ kubernetes }: Config, words: string): void {
  if (kubernetes !== null) throw new CommandFailed(`${words} (ENGINE=kubernetes)`)
}

/** @throws {CommandFailed} where homes cannot be read and written */
export function requireHelperImage({ kubernetes }: Config): void {
  if (kubernetes === null || kubernetes.helperImage !== null) return
  throw new CommandFailed(
    'Homes of a cluster are read and written by pods of KUBERNETES_HELPER_IMAGE, which is not set. Set it, or use --no-homes and snapshots of the volumes. (ENGINE=kubernetes)',
  )
}
