import type { Lifetime } from './berth.ts'

/**
 * The two clocks of this process, to be moved: the wall clock (`Date`), which can be set, and the steady one
 * (`performance.now`), which only time moves. Timers go on by themselves, and both clocks go on from where they are.
 */
const RealDate = Date
const realSteady = performance.now.bind(performance)
const moved = { wall: 0, steady: 0 }

class MovedDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [MovedDate.now()] : given) as [number]))
  }
  static override now(): number {
    return RealDate.now() + moved.wall
  }
  /** What was made before is a date all the same. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object(value) instanceof RealDate
  }
}

function move(wall: number, steady: number): void {
  moved.wall = wall
  moved.steady = steady
  globalThis.Date = MovedDate as DateConstructor
  performance.now = () => realSteady() + moved.steady
}

function restore(): void {
  globalThis.Date = RealDate
  performance.now = realSteady
  Object.assign(moved, { wall: 0, steady: 0 })
}

/** Lets the work see time pass. */
export async function withTime(work: (pass: (ms: number) => void) => Promise<void>): Promise<void> {
  try {
    await work((ms) => move(moved.wall + ms, moved.steady + ms))
  } finally {
    restore()
  }
}

/** Both clocks, until the test is over. */
export function movableClock(lifetime: Lifetime): { set(by: number): void; pass(ms: number): void } {
  lifetime.after(async () => restore())
  return {
    /** Moves the wall clock and nothing else, as an administrator or a time server does. */
    set: (by) => move(moved.wall + by, moved.steady),
    /** Lets time pass. */
    pass: (ms) => move(moved.wall + ms, moved.steady + ms),
  }
}
