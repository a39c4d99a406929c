import type { EngineClient } from './client.ts'
import type { Host } from './host.ts'
import type { HostRules } from './host-rules.ts'
import type { Networks } from './networks.ts'
import type { Pulls } from './pull.ts'

/** What every verb works with. */
export interface Engine {
  readonly client: EngineClient
  /** Name of this installation, on every label. */
  readonly instance: string
  /** Whether the engine runs on this machine, as far as its address tells. */
  readonly isLocal: boolean
  readonly networks: Networks
  readonly rules: HostRules
  readonly host: Host
  readonly pulls: Pulls
}
