import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Seeded } from './seed.ts'
import type { FleetEngine } from './engines.ts'
import type { Order } from './stand-in.ts'

/** In ms. */
const startLimit = 120_000
const root = path.resolve(import.meta.dirname, '../..')

/** Delays of an event loop, in ms. */
export interface LoopDelay {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Of both processes. */
export type Both<T> = Readonly<Record<'gateway' | 'api', T>>

/** Berth as `npm start` runs it, and the fake engine; both are separate programs. */
export interface Fleetside {
  readonly url: string
  /** Process ids. */
  pids(): Both<number>
  /** Sends a command to the probe of a process. */
  probe<T = object>(which: keyof Both<unknown>, words: string): Promise<T>
  send<T = object>(order: Order): Promise<T>
  /** Kills both processes and starts them again. @returns ms until `/readyz` returns 200 */
  restart(env?: Readonly<Record<string, string>>): Promise<number>
  end(): Promise<void>
}

/** @param env further settings of Berth @throws when it is not ready within two minutes */
export async function startFleetside(
  engine: FleetEngine,
  { folder, seeded, port }: { readonly folder: string; readonly seeded: Seeded; readonly port: number },
  env: Readonly<Record<string, string>>,
): Promise<Fleetside> {
  const probes = path.join(folder, 'probes')
  mkdirSync(probes, { recursive: true })
  const { program, args } = engine.standIn(folder, seeded.fleetFile)
  const fakeEngine = fork(program, args, { execArgv: [] })
  await once(fakeEngine, 'message')
  const settings = {
    PATH: process.env.PATH ?? '',
    PORT: String(port),
    DATA_DIR: seeded.dataDir,
    ...engine.settings(folder),
    LOG_LEVEL: 'warn',
    FLEET_PROBES: probes,
    NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'probe.ts')}`,
    ...env,
  }
  const url = `http://127.0.0.1:${port}`
  let berth = run(folder, settings)
  const ready = async (began: number) => {
    while (performance.now() - began < startLimit) {
      const response = await fetch(`${url}/readyz`).catch(() => undefined)
      if (response?.status === 200) return performance.now() - began
      await sleep(10)
    }
    throw new Error(`Berth is not ready within ${startLimit} ms; see ${folder}/berth.log`)
  }
  const pids = () => ({ gateway: berth.pid ?? 0, api: childOf(berth.pid ?? 0) })
  const kill = async () => {
    if (berth.exitCode !== null || berth.signalCode !== null)
      throw new Error(`Berth ended by itself (${berth.exitCode ?? berth.signalCode}); see ${folder}/berth.log`)
    const { api } = pids()
    const ended = once(berth, 'exit')
    berth.kill('SIGKILL')
    process.kill(api, 'SIGKILL')
    await ended
  }
  await ready(performance.now())
  return {
    url,
    pids,
    probe: (which, words) => ask(path.join(probes, `${pids()[which]}.sock`), words),
    send: async <T>(order: Order) => {
      fakeEngine.send(order)
      const [answer] = (await once(fakeEngine, 'message')) as [T]
      return answer
    },
    restart: async (more = {}) => {
      await kill()
      const began = performance.now()
      berth = run(folder, { ...settings, ...more })
      return ready(began)
    },
    end: async () => {
      await kill()
      fakeEngine.disconnect()
      await once(fakeEngine, 'exit')
    },
  }
}

function run(folder: string, env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(path.join(root, 'tools/serve.sh'), { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const log = createWriteStream(path.join(folder, 'berth.log'), { flags: 'a' })
  child.stdout.pipe(log)
  child.stderr.pipe(log)
  return child
}

/** @throws {Error} when there is no API process */
function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  if (!child) throw new Error('there is no API process')
  return Number(child)
}

async function ask<T>(socket: string, words: string): Promise<T> {
  const connection = connect(socket)
  connection.write(`${words}\n`)
  return (await json(connection)) as T
}
