import type { Level } from '#/doctor/check.ts'
import type { AttackInstallation } from './attack-installation.ts'

/** What the hostile container got by one attempt. */
export interface Loot {
  readonly level: Level
  /** One sentence: what it got, and what that means. */
  readonly what: string
  readonly fix: string
}

/** Result of an attempt: what it got, and what was tried for it in a few words. */
export interface Outcome {
  readonly got: readonly Loot[]
  /** End of the line "nothing: ...". */
  readonly tried: string
}

/** One thing that a hostile container tries. */
export interface Attempt {
  /** Of one or two words, as the report names it. */
  readonly name: string
  /**
   * @param signal aborted at the time limit and by Ctrl-C
   * @throws when it could not be tried; the message says why
   */
  readonly run: (installation: AttackInstallation, signal: AbortSignal) => Promise<Outcome>
}
