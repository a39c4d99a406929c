import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  type WriteStream,
} from 'node:fs'
import path from 'node:path'
import type { CrashPoint, CrashScope } from '#/machine/crash-points.ts'
import { compileCache } from '../../support/compile-cache.ts'
import { lives, waitFor } from '../../support/program.ts'
import { ask, placeOf, type Routing } from './http-client.ts'
import { freePort } from '../../support/free-port.ts'

const main = path.resolve(import.meta.dirname, '../../../../gateway/src/main.ts')
const clock = new URL('../faults/movable-clock.ts', import.meta.url).href

/** How long a start may take on a slow machine, in ms. */
const startLimit = 60_000

/** What a process holds, of the host's. */
export interface Footprint {
  /** Bytes. */
  readonly memory: number
  readonly handles: number
}

/** The program as an operator runs it, which dies and is started again: always one port, one data folder and one log. */
export class RealProgram {
  readonly port: number
  /** Everything that any of its lives printed. */
  readonly logFile: string
  readonly #env: Readonly<Record<string, string>>
  readonly #routing: Routing
  readonly #orders: string
  readonly #clock: string
  #ahead = 0
  readonly #log: WriteStream
  #child: ChildProcess | undefined

  /** @param folder where its orders and its log are @param env its settings */
  private constructor(folder: string, routing: Routing, port: number, env: Readonly<Record<string, string>>) {
    this.port = port
    this.#routing = routing
    this.logFile = path.join(folder, 'program.log')
    this.#orders = path.join(folder, 'crash-orders')
    this.#clock = path.join(folder, 'clock')
    this.#log = createWriteStream(this.logFile, { flags: 'a' })
    this.#env = {
      PATH: process.env.PATH ?? '',
      ...compileCache,
      ...env,
      PORT: String(port),
      BERTH_CRASH_ORDERS: this.#orders,
      BERTH_CHAOS_CLOCK: this.#clock,
      NODE_OPTIONS: `--import ${clock}`,
    }
  }

  /** Starts it, and resolves when it answers. */
  static async begin(folder: string, routing: Routing, env: Readonly<Record<string, string>>): Promise<RealProgram> {
    const program = new RealProgram(folder, routing, await freePort(), env)
    await program.start()
    return program
  }

  /** After all of it died. Resolves when it answers. @throws when it ends again, or is too slow */
  async start(): Promise<void> {
    this.cancelOrder()
    const child = spawn(process.execPath, [main], { env: this.#env })
    this.#child = child
    child.stdout.pipe(this.#log, { end: false })
    child.stderr.pipe(this.#log, { end: false })
    await this.answers()
  }

  /** Resolves when the API answers and the gateway has the routes, whichever process serves it. @throws when the program has ended, or is too slow */
  async answers(): Promise<void> {
    await waitFor(
      'the API answers',
      async () => {
        if (!this.isAlive) throw new Error(`the program has ended; see ${this.logFile}`)
        const isAlive = (await ask(this.port, 'GET', '/healthz', { limit: 5_000 })).status === 200
        // 503 until the gateway has the routes; 401 afterwards, whether the container exists or not.
        const { target, host } = placeOf(this.#routing, this.port, 'unknown-dev')
        return isAlive && (await ask(this.port, 'GET', target, { host, limit: 5_000 })).status !== 503
      },
      startLimit,
    )
  }

  /** Whether the gateway process is there. */
  get isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Has it die at a point, as soon as that is reached. */
  order(point: CrashPoint, scope: CrashScope): void {
    writeFileSync(this.#orders, `${point} ${scope}`)
  }

  /** Whether the point was reached since it was ordered. */
  get isOrderCarriedOut(): boolean {
    return !existsSync(this.#orders)
  }

  /** Its wall clock, and that of its next lives, jumps by so many ms within a moment. */
  moveClock(by: number): void {
    this.#ahead += by
    writeFileSync(this.#clock, String(this.#ahead))
  }

  cancelOrder(): void {
    rmSync(this.#orders, { force: true })
  }

  /** SIGKILL, now. Of both, the gateway process dies first, so that it starts no other. */
  kill(scope: CrashScope): void {
    const api = this.apiId
    if (scope === 'all') this.#child?.kill('SIGKILL')
    if (api !== undefined && lives(api)) process.kill(api, 'SIGKILL')
  }

  /** After a death: no process is left of a program that died whole, and it runs again. @param scope what died */
  async revive(scope: CrashScope): Promise<void> {
    if (scope === 'all') {
      if (this.isAlive && this.#child) await once(this.#child, 'exit', { signal: AbortSignal.timeout(20_000) })
      await this.start()
    }
    await this.answers()
  }

  get gatewayId(): number | undefined {
    return this.#child?.pid
  }

  get apiId(): number | undefined {
    try {
      const id = this.gatewayId
      return Number(readFileSync(`/proc/${id}/task/${id}/children`, 'utf8').trim().split(' ')[0]) || undefined
    } catch {
      return undefined
    }
  }

  /** What gateway and API process hold now. */
  footprints(): { gateway: Footprint; api: Footprint } {
    return { gateway: footprintOf(this.gatewayId), api: footprintOf(this.apiId) }
  }

  /** Ends it for good, in good order where it still can. @returns whether it ended by itself, with exit code 0 */
  async end(): Promise<boolean> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return false
    child.kill('SIGTERM')
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(25_000) })
    const isOver = await ended.then(
      () => true,
      () => child.kill('SIGKILL') && false,
    )
    await new Promise((resolve) => this.#log.end(resolve))
    return isOver && child.exitCode === 0
  }
}

function footprintOf(id: number | undefined): Footprint {
  const status = readFileSync(`/proc/${id}/status`, 'utf8')
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(status) ?? []
  return { memory: Number(kilobytes) * 1024, handles: readdirSync(`/proc/${id}/fd`).length }
}
