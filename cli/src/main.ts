import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ApiError } from '@berth/api/client.ts'
import { CommanderError } from 'commander'
import { pino } from 'pino'
import { dataDirIn } from '@berth/server/config/config.ts'
import { armCrashPoints } from '@berth/server/machine/crash-points.ts'
import { readSettings } from '@berth/server/config/env-file.ts'
import { accountName, withAccount } from './find-users.ts'
import { CommandFailed, WrongUsage } from './command-failure.ts'
import { createProgram, type GlobalOptions } from './program.ts'
import { Terminal, oneLine } from './terminal.ts'
import type { CommandContext } from './with-api.ts'

/**
 * The program `berth`: the operator's command line. Commands are calls of the API; see docs/reference/command-line.md and
 * docs/explanation/decisions/025. Only this file and the other programs read the environment or end the process.
 */

/** Exit codes beside 0. The last is what shells report for a program that Ctrl-C ended. */
const [failed, wrongUsage, interrupted] = [1, 2, 130]

/** How long a command may clean up after the end of its reader, in ms. */
const cleanUpTimeout = 30_000

await main()

async function main(): Promise<void> {
  // Relative paths in settings are relative to the repository, as for the service; file arguments to the working
  // directory.
  const folder = process.env.BERTH_FOLDER ?? process.cwd()
  process.chdir(path.resolve(import.meta.dirname, '../..'))
  if (process.env.BERTH_CRASH_ORDERS) armCrashPoints(process.env.BERTH_CRASH_ORDERS)
  const ctrlC = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ctrlC.abort())
  // The reader of our output, such as `head`, may end before us: then all ends as by Ctrl-C, so that it is cleaned up.
  let hasReader = true
  process.stdout.on('error', () => {
    if (hasReader) setTimeout(() => process.exit(failed), cleanUpTimeout).unref()
    hasReader = false
    ctrlC.abort()
  })
  const program = createProgram((options) => createContext(options, folder, ctrlC.signal), {
    getOutHelpWidth: () => (process.stdout.isTTY ? process.stdout.columns : 80),
    getErrHelpWidth: () => (process.stderr.isTTY ? process.stderr.columns : 80),
  })
  process.exitCode = await program.parseAsync().then(
    () => 0,
    (error: unknown) => (hasReader ? reportError(error, ctrlC.signal) : failed),
  )
  // Handles that are still open, such as a connection to a store that does not answer, must not delay the exit.
  process.stdout.write('', () => process.exit())
}

function createContext(options: GlobalOptions, folder: string, signal: AbortSignal): CommandContext {
  const { env, problems, notes } = readSettings(process.env, (file) => readFileSync(file, 'utf8'))
  const log = pino({ level: options.verbose ? 'debug' : 'silent' }, pino.destination({ dest: 2, sync: true }))
  return {
    env,
    settingProblems: problems,
    settingNotes: notes,
    dataDir: dataDirIn(env),
    folder,
    terminal: new Terminal(process, options.json === true),
    operator: operatorName(),
    signal,
    log,
  }
}

/** Operating system account, and the account that used sudo, for the audit log. */
function operatorName(): string {
  const before = process.env.SUDO_USER
  return `operator ${accountName()}${before && /^[\w.@$-]{1,32}$/.test(before) ? ` (${before})` : ''}`
}

/** Prints the failure to stderr. @returns the exit code */
function reportError(error: unknown, signal: AbortSignal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongUsage
  if (signal.aborted) {
    process.stderr.write('berth: interrupted; what was said to be done is done\n')
    return interrupted
  }
  process.stderr.write(`berth: ${wordsOf(error).split('\n').map(oneLine).join('\n')}\n`)
  return error instanceof WrongUsage ? wrongUsage : failed
}

function wordsOf(error: unknown): string {
  if (error instanceof CommandFailed) return withAccount(error.message)
  return error instanceof ApiError ? error.message : bugOf(error)
}

function bugOf(error: unknown): string {
  return `this is a bug, or the machine failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}
