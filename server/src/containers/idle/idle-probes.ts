import { isAddress, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import { KeyedQueue } from '#/machine/keyed-mutex.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import type { Activity } from './activity.ts'
import { askIdleProbe } from './idle-probe.ts'
import { ProbeConnection } from './probe-connection.ts'

/** Between two questions to one container, in ms. */
const interval = 60_000
/** Questions that are due within so many ms of each other are asked together, which takes half the CPU time. */
const slot = 10_000
/** As `interval`, after a question that was not answered, in ms, and twice as long after each further one: the application may be starting. */
const firstRetry = 2_000
/** How old an answer may be by which a container is suspended, in ms: longer than between two checks. */
const freshness = 2_000
/** Questions in progress; one that is not answered ends after 5 s. */
const maxParallel = 32

export interface IdleProbesParts {
  readonly templates: Pick<Templates, 'get'>
  readonly routeSync: Pick<RouteSync, 'routeOf' | 'isRunning'>
  readonly activity: Pick<Activity, 'told' | 'forgetTold'>
  /** Subdomain routing. */
  readonly hasOwnHost: boolean
}

interface Asked {
  readonly known: ContainerRef
  /** When it is asked next, by `performance.now()`. */
  next: number
  /** When it was asked last, by `performance.now()`. */
  at: number
  containerId: string
  readonly connection: ProbeConnection
  /** ms until it is asked again if it does not answer; 0 when it has answered. */
  retry: number
}

/** Asks running containers whose template has `idle_probe` whether they are used. What they say is kept by `Activity`. */
export class IdleProbes {
  readonly #parts: IdleProbesParts
  readonly #asked = new Map<string, Asked>()
  readonly #queue = new KeyedQueue(maxParallel)

  constructor(parts: IdleProbesParts) {
    this.#parts = parts
  }

  /** Asks a running container if it was not asked for a minute. */
  askWhenDue(known: ContainerState): void {
    const asked = this.#askedOf(known)
    if (asked && performance.now() >= asked.next) this.#ask(known, asked)
  }

  /** Asks a running container that is about to be suspended. @returns false when it needs no question, or has just answered one */
  askNow(known: ContainerState): boolean {
    const asked = this.#askedOf(known)
    if (!asked || performance.now() - asked.at < freshness) return false
    this.#ask(known, asked)
    return true
  }

  /** Forgets containers that do not run. */
  prune(): void {
    for (const [key, { known }] of this.#asked) if (!this.#parts.routeSync.isRunning(known)) this.#forget(key)
  }

  /** Nothing is asked that waits, and no connection is kept. */
  stop(): void {
    this.#queue.clear()
    for (const { connection } of this.#asked.values()) connection.close()
  }

  #forget(key: string): void {
    this.#asked.get(key)?.connection.close()
    this.#asked.delete(key)
  }

  /** What it said counts no more, once its template has been given without a probe: it is asked no more, so that traffic counts. */
  #forgetUnasked(known: ContainerState): void {
    const key = containerKey(known)
    if (!this.#asked.has(key)) return
    this.#forget(key)
    this.#parts.activity.forgetTold(known)
  }

  /** Undefined for a type without a probe. */
  #askedOf(known: ContainerState): Asked | undefined {
    const { containerId, userId, type } = known
    if (containerId === null) return undefined
    if (!this.#parts.templates.get(type)?.idleProbe) {
      if (this.#asked.size > 0) this.#forgetUnasked(known)
      return undefined
    }
    const key = containerKey(known)
    const before = this.#asked.get(key)
    if (before?.containerId === containerId) return before
    this.#forget(key)
    const asked = {
      known: { userId, type },
      containerId,
      connection: new ProbeConnection(),
      at: Number.NEGATIVE_INFINITY,
      next: 0,
      retry: firstRetry,
    }
    this.#asked.set(key, asked)
    return asked
  }

  #ask(known: ContainerState, asked: Asked): void {
    this.#queue.add(containerKey(known), async () => {
      const { templates, routeSync, activity, hasOwnHost } = this.#parts
      const template = templates.get(known.type)
      const where = routeSync.routeOf(known)?.where
      if (!template?.idleProbe || !where || !isAddress(where) || where.isPaused) return
      const { idleProbe, stripPrefix, scheme } = template
      const app = { host: where.host, port: where.port, prefix: known.prefix }
      const answer = await askIdleProbe({ idleProbe, stripPrefix, scheme }, app, hasOwnHost, asked.connection)
      asked.at = performance.now()
      asked.next = asked.at + pauseAfter(asked, answer !== undefined)
      // It may have been stopped meanwhile, which is why it did not answer, or be asked no more.
      if (routeSync.isRunning(known) && templates.get(known.type)?.idleProbe) activity.told(known, answer?.usedAt)
    })
  }
}

/** After the first answer a part of the interval, so that containers that were found at the same time are not asked at the same time. */
function pauseAfter(asked: Asked, hasAnswered: boolean): number {
  const { retry } = asked
  asked.retry = hasAnswered ? 0 : Math.min(interval, Math.max(retry, firstRetry) * 2)
  if (!hasAnswered) return Math.min(interval, retry || firstRetry)
  return retry === 0 ? interval - (asked.at % slot) : interval * (0.5 + Math.random() / 2)
}
