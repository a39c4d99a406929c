import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'

/** The program `berth` as an operator runs it, without the shell script that only finds Node. */
const main = path.resolve(import.meta.dirname, '../../src/cli/main.ts')

/** As in `./berth`: without it each run takes half a second longer. */
const compileCache = path.resolve(import.meta.dirname, '../../../.berth/compile-cache')

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
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...settings },
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
