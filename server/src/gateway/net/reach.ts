import { setTimeout as sleep } from 'node:timers/promises'
import type { Absence, ControlPlane } from '../gateway.ts'
import { AppConnection } from './app-connection.ts'
import { gatewayRefusals, type GatewayRefusal } from './refusals.ts'
import { Route, type Upstream } from './route.ts'

/** How long an app may take to accept a connection, in ms. */
const connectLimit = 10_000
/** How long an app that has answered before may refuse connections, in ms: time for it to restart itself. */
const returnLimit = 1_000
/** Pauses between attempts to connect, in ms. */
const [firstPause, longestPause] = [5, 250]

/** Somebody who waits for a connection. */
export interface Waiting {
  /** Whether to go on trying: the client may have left. */
  isWanted(): boolean
  /** Only its owner wakes a container that sleeps; one that is paused wakes for everybody who may pass. */
  readonly mayWake: boolean
  /** How long to wait for a container that starts, in ms. */
  readonly patience: number
}

/**
 * A new connection to an upstream: wakes the container when it has to, and tries again while its app is still starting,
 * so that "it runs" is never followed by a refusal.
 * @returns why there is none to be had, when that is known
 * @throws {GatewayRefusal} 502 when the app cannot be reached although it should be there
 */
export async function reach(
  upstream: Upstream,
  control: ControlPlane,
  waiting: Waiting,
): Promise<AppConnection | Absence> {
  const begun = performance.now()
  const end = begun + waiting.patience
  let wasWoken = false
  for (let pause = firstPause; ; pause = Math.min(pause * 1.5, longestPause)) {
    const isAwake = upstream.address !== undefined
    // It was started for this very request, and has ended: once more would only end once more.
    const mayWake = waiting.mayWake && !(wasWoken && !isAwake)
    const got = await attempt(upstream, control, { ...waiting, mayWake }, end)
    wasWoken ||= !isAwake && upstream.address !== undefined
    if (got instanceof AppConnection || 'absent' in got) return got
    const limit = isBack(upstream) ? Math.min(end, begun + returnLimit) : end
    if (performance.now() + pause > limit || !waiting.isWanted()) throw lost(upstream, control, got)
    await sleep(pause)
  }
}

/** An app that has answered at this address is not starting any more. */
const isBack = (upstream: Upstream) =>
  upstream instanceof Route && upstream.hasAnswered && upstream.address !== undefined

/** One attempt: a connection, why there is none, or what went wrong, which may be mended by time. */
async function attempt(
  upstream: Upstream,
  control: ControlPlane,
  waiting: Waiting,
  end: number,
): Promise<AppConnection | Absence | Error> {
  const absence = upstream.address ? undefined : await wake(upstream, control, waiting, end)
  if (absence) return absence
  const { address } = upstream
  if (!address) return new Error('it has no address yet')
  try {
    const connection = await AppConnection.open(upstream, address, connectLimit)
    if (upstream.address === address && waiting.isWanted()) return connection
    // Held for a pause or moved while it was opened, or nobody waits any more: it must neither be used nor kept.
    connection.destroy()
    return new Error('it is elsewhere by now')
  } catch (error) {
    if (!(upstream instanceof Route) || isRefused(error)) return error as Error
    throw lost(upstream, control, error)
  }
}

/** Nobody answers at this address: perhaps the engine has given it up without a word to us. */
function lost(upstream: Upstream, control: ControlPlane, cause: unknown): GatewayRefusal {
  if (upstream instanceof Route) control.suspect(upstream.place.prefix)
  return gatewayRefusals.appFailed(cause)
}

/** Nobody listens yet (`ECONNREFUSED`), or the platform's socket is not there yet. */
const isRefused = (error: unknown) => ['ECONNREFUSED', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))

/** Waits until the container runs. @returns why it does not, or undefined when it may by now */
async function wake(
  upstream: Upstream,
  control: ControlPlane,
  { mayWake }: Waiting,
  end: number,
): Promise<Absence | undefined> {
  if (!(upstream instanceof Route)) return undefined
  const { where, prefix } = upstream.place
  if ('absent' in where && !(where.absent === 'asleep' && mayWake)) return where
  const tooLate: Absence = { absent: 'asleep', exitCode: null }
  const answered = new AbortController()
  const limit = sleep(Math.max(0, end - performance.now()), tooLate, { ref: false, signal: answered.signal })
  const woken = control.wake(prefix).catch(() => unknown)
  return Promise.race([woken, limit.catch(() => undefined)]).finally(() => answered.abort())
}

const unknown: Absence = { absent: 'unknown', exitCode: null }
