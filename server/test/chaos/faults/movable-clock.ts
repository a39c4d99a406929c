import { readFileSync } from 'node:fs'

/**
 * Loaded into the program before anything else (`NODE_OPTIONS=--import`): its wall clock is ahead by as many ms as a file
 * says, so that a run can move the clock of a real program and not that of the machine.
 */
const file = process.env.BERTH_CHAOS_CLOCK ?? ''
/** Between two looks at the file, in ms. */
const every = 50
const RealDate = Date
let ahead = 0

function look(): void {
  try {
    ahead = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    // It has not been moved yet.
  }
}

class MovedDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [MovedDate.now()] : given) as [number]))
  }
  static override now(): number {
    return RealDate.now() + ahead
  }
  /** What was made before is a date all the same. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object(value) instanceof RealDate
  }
}

look()
setInterval(look, every).unref()
globalThis.Date = MovedDate as DateConstructor
