import type { ChildProcess } from 'node:child_process'
import type { Gateway } from '#/port/gateway.ts'
import { channelTo } from '#/link/channel.ts'
import { RemoteControlPlane } from '#/link/remote-control-plane.ts'

/** How a process came to its end; `code` is null when a signal ended it. */
export interface Ending {
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
