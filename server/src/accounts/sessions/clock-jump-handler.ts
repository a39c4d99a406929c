import type { ClockJumpHandler } from '#/machine/clock-jump-detector.ts'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import type { Database } from '#/store/database.ts'
import type { Revocations } from './revocations.ts'

export interface ClockJumpHandlerParts {
  readonly database: Database
  readonly revocations: Revocations
  /** Ends all streams: their end was computed by the old clock. */
  readonly endStreams: () => void
  /** Called when stored instants have changed. */
  readonly onMoved: () => void
}

/**
 * Effects of a clock jump on access. After a jump forward links and tokens expire, unless it only makes good for a jump back.
 * After a jump back expired ones stay void, and every session ends. See docs/explanation/decisions/021.
 */
export function clockJumpHandler({
  database,
  revocations,
  endStreams,
  onMoved,
}: ClockJumpHandlerParts): ClockJumpHandler {
  return {
    handle: ({ by, before, now }) => {
      endStreams()
      const endEra = by < 0 ? revocations.endEra(before) : async () => undefined
      return {
        begin: async () => {
          await endEra()
          await beginClockJump(database, by, now)
        },
        finish: async () => {
          await finishClockJump(database)
          onMoved()
        },
      }
    },
  }
}
