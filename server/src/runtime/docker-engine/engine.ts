import type { EngineClient } from './client.ts'
import type { Host } from './host.ts'
import type { Pulls } from './pull.ts'

/** What every verb works with. */
export interface Engine {
  readonly client: EngineClient
  /** Name of this installation, on every label. */
  readonly instance: string
  /** Name of the bridge network that all containers are on. */
  readonly network: string
  readonly host: Host
  readonly pulls: Pulls
}
