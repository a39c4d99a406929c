/** As it is now: a test that lets hours pass must not time out what is open. */
const steady = performance.now.bind(performance)

/**
 * Cached clock with a resolution of `clockResolution`: a system call for every byte relayed would cost more than the relay.
 * The gateway's timer updates it. Ours, because no library caches a monotonic and a wall clock together.
 */
export const clock = {
  /** For how long something takes: ms by `performance.now()`, which is monotonic. */
  now: steady(),
  /** For what others say, such as when a token expires: ms since 1970. */
  wall: Date.now(),
  /** How often the wall clock was set back. */
  setBacks: 0,
}

/** How late the clock may be while clients are connected, in ms; without any, it is read at each sweep. */
export const clockResolution = 50

/** What a wall clock may be set back by, in ms, without being called so. */
const tolerance = 10_000

/** Reads it anew. */
export function readClock(): void {
  const before = clock.wall - clock.now
  clock.now = steady()
  clock.wall = Date.now()
  if (clock.wall - clock.now < before - tolerance) clock.setBacks++
}

/** A moment by both clocks of the machine. */
export interface Moment {
  /** By `performance.now()`, which a suspended virtual machine stops. */
  readonly steady: number
  /** By `Date.now()`, which can be set. */
  readonly wall: number
}

export const momentNow = (): Moment => ({ steady: performance.now(), wall: Date.now() })

/** Time since then in ms, by the clock by which more has passed: for what must not be believed for too long. */
export const elapsedSince = ({ steady, wall }: Moment): number =>
  Math.max(performance.now() - steady, Date.now() - wall)
