import { fork, type ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import { channelTo, RpcConnection } from '@berth/gateway/rpc/rpc-connection.ts'
import { sshProgram } from '@berth/gateway/supervisor/api-program.ts'
import type { SshControl, SshListener, SshSettings } from './ssh-protocol.ts'

/** In ms: how long its start may take, which is as long as that of the API process, and a call of it. */
const [serveTimeout, stopTimeout] = [60_000, 2_000]
/** Pauses before it is started again, in ms: the first, and the longest. */
const pauses = { first: 1_000, longest: 30_000 } as const
/** A process that lived so long was well, in ms. */
const wellAfter = 60_000
/**
 * Its heap is small, and a copy makes a buffer for each packet, which counts for it: with V8's usual growth it was collected
 * for each 4 MB that were copied, which took a third of the time of this process.
 */
const collectSeldom = ['--heap-growing-percent=400']

export interface SshProcessParts {
  readonly control: SshControl
  readonly settings: () => SshSettings
  /** Called when it is gone. */
  readonly onLost: () => void
  readonly log: Pick<Logger, 'info' | 'error'>
}

interface Running {
  readonly child: ChildProcess
  readonly rpc: RpcConnection<{ readonly [K in keyof SshListener]: SshListener[K] }>
}

/** The SSH process, which is started again when it ends, and does not keep Berth from starting. */
export class SshProcess implements Pick<SshListener, 'endSessions' | 'setPaused'> {
  readonly #parts: SshProcessParts
  #running: Running | undefined
  #port: number | undefined
  #problem: string | undefined
  #pause: number = pauses.first
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(parts: SshProcessParts) {
    this.#parts = parts
  }

  /** The port that it listens at; undefined while it does not. */
  get port(): number | undefined {
    return this.#port
  }

  /** Why it does not listen, for the system page; undefined while it does. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Starts it. Resolves when it listens, or could not; never rejects. */
  async start(): Promise<void> {
    if (this.#isStopped) return
    const { control, settings, log } = this.#parts
    const wanted = settings()
    // The environment has secrets that it does not need; credentials for a cluster may come from there.
    const environment = wanted.engine.kind === 'docker' ? { env: {} } : {}
    const execArgv = [...process.execArgv, ...collectSeldom]
    const child = fork(sshProgram(), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv, ...environment })
    const begun = performance.now()
    const rpc: Running['rpc'] = new RpcConnection(channelTo(child), handlersOf(control), {
      report: (problem) => log.error(`the SSH process: ${problem}`),
    })
    const running = { child, rpc }
    this.#running = running
    child.on('error', (error) => log.error({ err: error }, 'the SSH process could not be started'))
    void rpc.lost.then(() => this.#onLost(running, performance.now() - begun))
    try {
      this.#port = await rpc.call('serve', [wanted], serveTimeout)
      this.#problem = undefined
      this.#pause = pauses.first
      log.info({ port: this.#port }, 'the SSH server listens')
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error)
      log.error({ err: error }, 'the SSH server does not listen; it is tried again')
      child.kill('SIGKILL')
    }
  }

  endSessions(sessions: readonly number[], why: string): void {
    this.#running?.rpc.notify('endSessions', [sessions, why])
  }

  setPaused(sessions: readonly number[], isPaused: boolean): void {
    this.#running?.rpc.notify('setPaused', [sessions, isPaused])
  }

  /** Numbers for `/metrics`; none while it does not answer. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    return (await this.#running?.rpc.call('counts', [], stopTimeout).catch(() => undefined)) ?? {}
  }

  /** Ends it, and all sessions with this sentence. Never rejects. */
  async stop(why: string): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    const running = this.#running
    this.#running = undefined
    if (!running) return
    await running.rpc.call('stop', [why], stopTimeout).catch(() => undefined)
    running.child.kill('SIGKILL')
  }

  /** @param lived ms */
  #onLost(running: Running, lived: number): void {
    running.child.kill('SIGKILL')
    if (this.#running !== running) return
    this.#running = undefined
    this.#port = undefined
    this.#parts.onLost()
    if (this.#isStopped) return
    if (lived > wellAfter) this.#pause = pauses.first
    this.#parts.log.error('the SSH process has ended; it is started again')
    this.#timer = setTimeout(() => void this.start(), this.#pause)
    this.#pause = Math.min(this.#pause * 2, pauses.longest)
  }
}

/** Methods of a class are not its own properties, which RPC looks at. */
const handlersOf = (control: SshControl): SshControl => ({
  mayUse: (name, fingerprint) => control.mayUse(name, fingerprint),
  begin: (client) => control.begin(client),
  open: (session) => control.open(session),
  wake: (session) => control.wake(session),
  reportUse: (sessions) => control.reportUse(sessions),
  end: (session) => control.end(session),
  reportFailure: (address, name) => control.reportFailure(address, name),
  report: (problem) => control.report(problem),
})
