import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

/** Programs that packages bring with them are for the Node that runs this, not for the machine's. */
const env = { ...process.env, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` }

/** Runs a program to its end, at most ten minutes. @returns what it printed @throws {Error} with its own last words */
export async function runProgram(command: string, args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, env, timeout: 600_000, maxBuffer: 64 * 1024 ** 2 }
  const { stdout } = await promisify(execFile)(command, args, options).catch((cause: unknown) => {
    const words = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().slice(-2_000) : ''
    throw new Error(`${command} ${args.join(' ').slice(0, 200)} failed: ${words}`, { cause })
  })
  return stdout
}
