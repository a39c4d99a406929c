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
