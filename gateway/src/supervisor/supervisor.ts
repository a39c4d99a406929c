import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { RemoteControlPlane } from '#/rpc/remote-control-plane.ts'
import { ConnectionLost, channelTo } from '#/rpc/rpc-connection.ts'
import { protocolVersion } from '#/rpc/rpc-protocol.ts'
import type { Gateway } from '#/port/gateway.ts'

export interface SupervisorParts {
  /**
   * Forks an API process and links it with the gateway.
   * @param isReplacement another one serves until this one is loaded
   */
  readonly begin: (isReplacement: boolean) => ApiProcessHandle
  /** Called once, when the first API process answers requests, with its words. */
  readonly announce: (words: string) => void
  readonly logLine: (level: 'info' | 'warn' | 'error', line: string) => void
  readonly times?: Partial<SupervisorTimes>
}

/** All in ms. */
export interface SupervisorTimes {
  /** Backoff before an API process that ended is started again: none at first, then doubling. */
  readonly minBackoff: number
  readonly maxBackoff: number
  /** After so long a life the next end is the first again. */
  readonly backoffResetAfter: number
  /** Interval of the health check (liveness), and its timeout, after which the process is killed. */
  readonly pingEvery: number
  readonly pingTimeout: number
  /** How long a new version may take to load, and an old one to finish what is under way. */
  readonly loadTimeout: number
  readonly stopTimeout: number
}

const defaultTimes: SupervisorTimes = {
  minBackoff: 200,
  maxBackoff: 10_000,
  backoffResetAfter: 30_000,
  pingEvery: 10_000,
  // A store that is locked from outside holds the whole process up for seconds; that is not yet a reason to kill it.
  pingTimeout: 60_000,
  loadTimeout: 60_000,
  stopTimeout: 20_000,
}

/**
 * Process supervisor: restarts the API process with backoff when it ends, kills it when its health check times out, and replaces
 * it on demand while connections stay open (zero-downtime upgrade). A failure before the first readiness is not retried:
 * it ends Berth with the exit code.
 */
export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #times: SupervisorTimes
  #isStopping = false
  /** Ends the backoff before a new start. */
  #skipBackoff = new AbortController()
  #current: ApiProcessHandle | undefined
  /** Loaded, and waiting for the current one to end. */
  #next: ApiProcessHandle | undefined
  #isReplacing = false
  /** Asked for while one was under way, or before the first API process was ready. */
  #isReplacementDue = false
  #wasReady = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#times = { ...defaultTimes, ...parts.times }
  }

  /** Resolves when there is no API process any more and will be none, with the exit code for it. */
  async run(): Promise<number> {
    let backoff = 0
    let run = this.#parts.begin(false)
    for (;;) {
      const began = performance.now()
      const ending = await this.#supervise(run)
      if (this.#isStopping || !this.#wasReady) return ending.code ?? 1
      if (performance.now() - began > this.#times.backoffResetAfter) backoff = 0
      if (!this.#next) {
        await this.#backOff(ending, backoff)
        backoff = Math.min(Math.max(2 * backoff, this.#times.minBackoff), this.#times.maxBackoff)
        if (this.#isStopping) return 0
      }
      run = this.#takeNext() ?? this.#parts.begin(false)
    }
  }

  /**
   * Changes the API process for a new one, of a new version or with new settings. The old one goes on until the new one
   * is loaded and has found its settings right; when it does not come that far, the old one stays. Called while one is being
   * loaded, which may have read its settings already, it has another one follow.
   */
  async replace(): Promise<void> {
    if (this.#isStopping) return
    if (!this.#wasReady || this.#isReplacing) {
      this.#isReplacementDue = true
      return this.#parts.logLine(
        'info',
        'an API process is being started; another one follows it, with the settings of now',
      )
    }
    this.#isReplacing = true
    try {
      do {
        this.#isReplacementDue = false
        await this.#replaceOnce()
      } while (this.#isReplacementDue && !this.#isStopping)
    } finally {
      this.#isReplacing = false
    }
  }

  async #replaceOnce(): Promise<void> {
    this.#parts.logLine('info', 'a new API process is loaded to replace the old one')
    const next = await this.#load()
    if (!next) return this.#parts.logLine('error', 'the new API process did not come up; the old one goes on')
    this.#next = next
    this.#skipBackoff.abort()
    await this.#current?.stop(this.#times.stopTimeout, true)
  }

  /** Ends the API process and starts none again. @param timeout ms after which it is killed */
  async stop(timeout: number): Promise<void> {
    this.#isStopping = true
    this.#skipBackoff.abort()
    await Promise.all([this.#current?.stop(timeout), this.#takeNext()?.stop(timeout)])
  }

  /** From its start to its end. */
  async #supervise(run: ApiProcessHandle): Promise<Ending> {
    this.#current = run
    const over = new AbortController()
    void this.#bringUp(run, over.signal)
    const ending = await run.ended
    over.abort()
    this.#current = undefined
    return ending
  }

  async #bringUp(run: ApiProcessHandle, over: AbortSignal): Promise<void> {
    if (!this.#understands(await run.loaded)) return run.kill()
    run.start()
    const words = await run.ready
    if (this.#wasReady) this.#parts.logLine('info', 'the API is back')
    else {
      this.#wasReady = true
      this.#parts.announce(words)
      if (this.#isReplacementDue) void this.replace()
    }
    await this.#watch(run, over)
  }

  /** A process whose event loop hangs does not end by itself. */
  async #watch(run: ApiProcessHandle, over: AbortSignal): Promise<void> {
    const { pingEvery, pingTimeout } = this.#times
    try {
      for (;;) {
        await sleep(pingEvery, undefined, { signal: over })
        // After we were stopped ourselves (Ctrl-Z) the first limit is over before the answer is read: ask twice.
        await run.ping(pingTimeout / 2).catch(() => run.ping(pingTimeout / 2))
      }
    } catch (error) {
      // Its end is logged elsewhere.
      if (over.aborted || error instanceof ConnectionLost) return
      this.#parts.logLine('error', `the API process has not answered for ${pingTimeout / 1000} s and is killed`)
      run.kill()
    }
  }

  /** A process that waits for `start`, or undefined when it ended before, took too long, or speaks another version. */
  async #load(): Promise<ApiProcessHandle | undefined> {
    const run = this.#parts.begin(true)
    const over = new AbortController()
    const late = sleep(this.#times.loadTimeout, undefined, { signal: over.signal }).catch(() => undefined)
    const version = await Promise.race([run.loaded, run.ended.then(() => undefined), late])
    over.abort()
    if (version !== undefined && this.#understands(version) && !this.#isStopping) return run
    run.kill()
    return undefined
  }

  #understands(version: number): boolean {
    if (version === protocolVersion) return true
    this.#parts.logLine('error', 'the new version needs a new gateway, too: stop Berth and start it again')
    return false
  }

  #takeNext(): ApiProcessHandle | undefined {
    const next = this.#next
    this.#next = undefined
    return next
  }

  async #backOff({ code, signal }: Ending, backoff: number): Promise<void> {
    const when = backoff === 0 ? 'at once' : `in ${backoff / 1000} s`
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`
    this.#parts.logLine('error', `the API process ended ${how}; it is started again ${when}`)
    this.#skipBackoff = new AbortController()
    await sleep(backoff, undefined, { signal: this.#skipBackoff.signal }).catch(() => undefined)
  }
}

/** How a process came to its end; `code` is null when a signal ended it. */
interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

/** One API process, from its start to its end. */
export interface ApiProcessHandle {
  /** Resolves with the version that it speaks, once it waits for `start`; never, when it ends before. */
  readonly loaded: Promise<number>
  /** Readiness: resolves with words for the terminal once it serves requests; never, when it ends before. */
  readonly ready: Promise<string>
  readonly ended: Promise<Ending>
  start(): void
  /**
   * Asks it to finish what is under way and to end; after `timeout` ms it is killed (graceful shutdown). Resolves at its end.
   * @param isReplaced whether another one takes its place
   */
  stop(timeout: number, isReplaced?: boolean): Promise<Ending>
  /** Health check: resolves while its event loop runs. @param timeout in ms @throws when it does not answer in time */
  ping(timeout: number): Promise<void>
  kill(): void
}

/** Connects a forked process to the gateway by RPC. @param report where its last problems go */
export function connectApiProcess(
  child: ChildProcess,
  gateway: Gateway,
  report: (problem: string) => void,
): ApiProcessHandle {
  const loaded = Promise.withResolvers<number>()
  const ready = Promise.withResolvers<string>()
  const control = new RemoteControlPlane(channelTo(child), {
    gateway,
    report,
    onLoaded: loaded.resolve,
    onReady: ready.resolve,
  })
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    // Also emitted for a signal to a process that is gone; only without a pid there will be no 'exit'.
    child.on('error', ({ message }) => {
      report(`the API process: ${message}`)
      if (child.pid === undefined) resolve({ code: 1, signal: null })
    })
  })
  const kill = () => void child.kill('SIGKILL')
  const stop = async (timeout: number, isReplaced = false) => {
    control.stop(isReplaced)
    const timer = setTimeout(kill, timeout)
    const ending = await ended
    clearTimeout(timer)
    return ending
  }
  return {
    loaded: loaded.promise,
    ready: ready.promise,
    ended,
    start: () => control.start(),
    stop,
    ping: (timeout) => control.ping(timeout),
    kill,
  }
}

/** Times of the graceful shutdown, in ms after a signal to stop (and after `DRAIN_TIME`). Service managers wait for 25 s or more. */

/** How long what is under way may take. `app.ts` has the same time for requests of the API. */
export const drainTimeout = 15_000
/** When whatever still hangs is cut off, and the process ends. */
export const stopTimeout = 19_000

/** Argument of an API process that is loaded while another one serves; an older version ignores it. */
export const replacementArgument = 'replaces'
