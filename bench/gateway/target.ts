import type { Started } from './process.ts'
import type { Tokens } from './credentials.ts'

/** A proxy that is ready, with the routes loaded. */
export interface Target extends Started {
  readonly name: string
  readonly port: number
  /** What its callers show as the cookie `spawner_token`. */
  readonly tokens: Tokens
}
