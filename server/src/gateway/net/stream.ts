import type { Caller } from './people.ts'

/** Something open that can be forbidden at any moment: a request under way or a WebSocket. */
export interface Stream {
  /** Whose token opened it; undefined for public visitors. */
  readonly caller: Caller | undefined
  /** Ends both sides at once, without a word. */
  cut(): void
}
