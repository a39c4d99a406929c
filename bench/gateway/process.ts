import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { environment, scratch } from './programs.ts'

export { freePort } from '../../server/test/support/free-port.ts'

/** Core of the measured proxy; nothing else of the benchmark runs there. */
export const proxyCore = 0
/** Core of the load and of the backend. */
export const loadCore = 1

export interface Started {
  readonly pid: number
  readonly child: ChildProcess
  /** Ends it and waits; kills it after 5 s. */
  end(): Promise<void>
}

/** Starts a program on one core; our own scripts get an IPC channel. Its output goes to `.berth/bench/{name}.log`. */
export function start(name: string, core: number, command: readonly string[], withChannel = false): Started {
  const log = openSync(path.join(scratch, `${name}.log`), 'w')
  const child = spawn('taskset', ['--cpu-list', String(core), ...command], {
    stdio: ['ignore', log, log, ...(withChannel ? (['ipc'] as const) : [])],
    env: { ...process.env, ...environment },
  })
  closeSync(log)
  const ended = once(child, 'exit')
  running.add(child)
  void ended.then(() => running.delete(child))
  const end = async () => {
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(5_000, undefined, { ref: false })])
    child.kill('SIGKILL')
    await ended
  }
  // taskset replaces itself with the program, so this is the program's own id.
  return { pid: child.pid ?? 0, child, end }
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/**
 * Waits until the port accepts connections. @throws {Error} with the end of the program's log, after 15 s or when it
 * has ended
 */
export async function listening(name: string, { child }: Started, port: number, host = '127.0.0.1'): Promise<void> {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    if (await answers(port, host)) return
    await sleep(50)
  }
  throw new Error(`${name} does not listen:\n${readFileSync(path.join(scratch, `${name}.log`), 'utf8').slice(-2_000)}`)
}

function answers(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => (socket.destroy(), resolve(true)))
    socket.once('error', () => resolve(false))
  })
}

/** The next message of our own script. @throws {Error} after `limit` ms, or when it ends instead */
export async function message<T>({ child }: Started, limit = 30_000): Promise<T> {
  const signal = AbortSignal.timeout(limit)
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error('a script of the bench ended without its message')
  })
  const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [T]
  ended.catch(() => {})
  return message
}
