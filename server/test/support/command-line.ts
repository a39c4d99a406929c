import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { backupSigner } from '@berth/cli/backup/backup-signature.ts'
import { openDatabase } from '#/store/database.ts'
import { insertUser, moveUserState } from '#/store/users.ts'
import { commandLineProgram } from '@berth/gateway/supervisor/api-program.ts'
import { compileCache } from './compile-cache.ts'
import { copyEmptyStore } from './store/empty-store.ts'

/** The program `berth` as an operator runs it, without the shell script that only finds Node and the program. */
const main = commandLineProgram()

export interface CommandResult {
  /** Exit code. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Settings = Readonly<Record<string, string>>

/** Starts it; the environment is these settings and nothing of ours but the path. */
export function startCommand(settings: Settings, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, ...compileCache, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs it to its end. */
export async function runCommand(settings: Settings, ...args: string[]): Promise<CommandResult> {
  return resultOf(startCommand(settings, args))
}

export async function resultOf(child: ChildProcess): Promise<CommandResult> {
  if (!child.stdout || !child.stderr) throw new Error('its output is not piped')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, stdout, stderr }
}

/** Options of `berth restore` on another machine than that of the data folder, which made the backup. */
export async function signedBy(dataDir: string): Promise<readonly string[]> {
  return ['--signed-by', (await backupSigner(dataDir)).publicKey]
}

/** An engine that never answers. */
export const noEngine = { DOCKER_HOST: 'unix:///nowhere/docker.sock' }

/** A store with one administrator, boss@x.org, and ann@x.org, in a folder where no service ever ran. */
export async function makeStore(dataDir: string): Promise<string> {
  await copyEmptyStore(dataDir)
  const { db, close } = await openDatabase(null, dataDir)
  const boss = await insertUser(db, { email: 'boss@x.org', slug: 'boss', isAdmin: true, now: new Date() })
  await moveUserState(db, boss.id, 'registered', 'verified')
  await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now: new Date() })
  await close()
  return dataDir
}
