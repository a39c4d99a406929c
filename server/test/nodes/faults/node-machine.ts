import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifetime } from '../../support/berth.ts'
import { compileCache } from '../../support/compile-cache.ts'
import { lives, waitFor } from '../../support/program.ts'
import type { EngineMachine } from './engine-machine.ts'
import type { Machines } from './machines.ts'
import { recordOrders, type Lead, type Order } from './order-log.ts'
import { childrenOf } from '../../support/child-processes.ts'

const root = path.resolve(import.meta.dirname, '../../../..')

/** A machine with one Berth node. */
export interface NodeMachine {
  readonly name: string
  /** Of the machine. */
  readonly address: string
  /** `NODE_ADDRESS`. */
  readonly node: string
  readonly url: string
  /** How often it has led, and since when; of all its processes. */
  leads(): Lead[]
  output(): string
  /** @param folder of the program, from now on; the repository's at first */
  start(folder?: string): void
  /** Exit code of its gateway process. */
  ended(): Promise<number | null>
  /** Ends both processes at once. */
  kill(): Promise<void>
  /** Ends the API process alone. */
  killApi(): void
  /** Ends it in good order. @throws when that takes longer than 30 s, or fails */
  stop(): Promise<void>
  freeze(): void
  thaw(): void
}

export interface NodeParts {
  readonly machines: Machines
  readonly engine: EngineMachine
  readonly orders: Order[]
  readonly env: Readonly<Record<string, string>>
}

export async function addNodeMachine(
  lifetime: Lifetime,
  name: string,
  number: number,
  { machines, engine, orders, env }: NodeParts,
): Promise<NodeMachine> {
  const address = await machines.add(name, number)
  await machines.run(name, 'ip', 'route', 'add', 'default', 'via', engine.address)
  const folder = mkdtempSync(path.join(tmpdir(), `berth-${name}-`))
  const at = (file: string) => path.join(folder, file)
  mkdirSync(at('tmp'))
  recordOrders(lifetime, name, engine.socket, at('docker.sock'), orders)
  let child: ChildProcess | undefined
  let text = ''
  let program = root
  const processes = () => (child?.pid === undefined ? [] : [child.pid, ...childrenOf(child.pid)])
  const signal = (which: NodeJS.Signals, pids = processes()) => {
    for (const pid of pids) if (lives(pid)) process.kill(pid, which)
    return pids
  }
  const hasEnded = () => !child || child.exitCode !== null || child.signalCode !== null
  const killAll = async () => {
    const pids = signal('SIGKILL')
    await waitFor(`the end of ${name}`, () => !pids.some(lives))
  }
  lifetime.after(async () => {
    await killAll()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    name,
    address,
    node: `${address}:7070`,
    url: `http://${address}:8080`,
    leads: () =>
      [...text.matchAll(/^\{.*"msg":"this node leads from now on".*$/gm)].map(([line]) => {
        const { epoch, time } = JSON.parse(line) as { epoch: number; time: number }
        return { node: name, epoch, since: time }
      }),
    output: () => text,
    start: (given = program) => {
      program = given
      child = machines.spawn(name, process.execPath, [path.join(program, 'gateway/src/main.ts')], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...compileCache,
          ...env,
          HOST: '0.0.0.0',
          PORT: '8080',
          NODE_ADDRESS: `${address}:7070`,
          DOCKER_HOST: `unix://${at('docker.sock')}`,
          DATA_DIR: at('data'),
          TMPDIR: at('tmp'),
        },
      })
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
    },
    ended: async () => {
      if (child && !hasEnded()) await once(child, 'exit', { signal: AbortSignal.timeout(30_000) })
      return child?.exitCode ?? null
    },
    kill: killAll,
    killApi: () => void signal('SIGKILL', processes().slice(1)),
    stop: async () => {
      if (hasEnded() || !child) return
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(30_000) })
      child.kill('SIGTERM')
      const [code] = await ended
      if (code !== 0) throw new Error(`${name} ended with ${String(code)}`)
    },
    freeze: () => void signal('SIGSTOP'),
    thaw: () => void signal('SIGCONT'),
  }
}
