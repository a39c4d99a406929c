import type { ClockFollower } from '#/clock-watch.ts'
import { moveInstants } from '#/store/clock.ts'
import type { Database } from '#/store/database.ts'
import type { AccessTokens } from './access-token.ts'
import type { Revocations } from './revocations.ts'

export interface ClockFollowerParts {
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
 * comes again is not: what had expired stays void, and everybody signs in again. See docs/decisions/021.
 */
export function followClock({ database, tokens, revocations, endStreams, onMoved }: ClockFollowerParts): ClockFollower {
  return {
    follow: ({ by, before, now }) => {
      endStreams()
      tokens.forgetScoped()
      const endEra = by < 0 ? revocations.endEra(before) : async () => undefined
      const move = once(async () => database.transaction((tx) => moveInstants(tx, by, now)))
      return async () => {
        await endEra()
        await move()
        onMoved()
      }
    },
  }
}

/** Moving twice would be twice as far. */
function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    await work()
    isDone = true
  }
}
