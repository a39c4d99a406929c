import type { ClockJumpHandler } from '#/clock-jump-detector.ts'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import type { Database } from '#/store/database.ts'
import type { AccessTokens } from './access-token.ts'
import type { Revocations } from './revocations.ts'

export interface ClockJumpHandlerParts {
  readonly database: Database
  readonly tokens: AccessTokens
  readonly revocations: Revocations
  /** Ends all streams: how long each may last was reckoned by the clock as it was. */
  readonly endStreams: () => void
  /** Called when what is stored has changed. */
  readonly onMoved: () => void
}

/**
 * What a moved clock means for who may do what. Time that was skipped is believed: links and tokens expire. Time that
 * comes again is not: what had expired stays void, and everybody signs in again. See docs/explanation/decisions/021.
 */
export function clockJumpHandler({
  database,
  tokens,
  revocations,
  endStreams,
  onMoved,
}: ClockJumpHandlerParts): ClockJumpHandler {
  return {
    handle: ({ by, before, now }) => {
      endStreams()
      tokens.forgetScoped()
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
