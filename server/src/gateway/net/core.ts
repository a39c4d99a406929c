import type { ControlPlane, GatewaySettings } from '../gateway.ts'
import type { ClientConnections } from './client-connections.ts'
import type { Caller, People } from './people.ts'
import type { Platform } from './route.ts'
import type { Routes } from './routes.ts'
import type { TrustedProxies } from './trusted-proxies.ts'
import type { Usage } from './usage.ts'

/** What every connection of one gateway shares. */
export interface Core {
  readonly routes: Routes
  readonly people: People
  readonly usage: Usage
  readonly connections: ClientConnections
  /** Undefined until the first control plane has come. */
  readonly serving: Serving | undefined
  /** Whether a control plane has told who there is; until then nobody's token can be called bad. */
  readonly isTold: boolean
  readonly isClosing: boolean
}

/** What a control plane has told at `serve`. */
export interface Serving {
  readonly control: ControlPlane
  readonly settings: GatewaySettings
  readonly platform: Platform
  readonly reservedSlugs: ReadonlySet<string>
  readonly trustedProxies: TrustedProxies
}

/** Whether something that a caller has open may stay so. */
export function mayStay({ people }: Core, caller: Caller | undefined): boolean {
  return caller === undefined || (people.isGood(caller) && people.get(caller.userId)?.isBlocked === false)
}
