import type { TypeRules } from '../gateway-settings.ts'
import type { GatewayUser } from '../gateway-state.ts'
import type { Route } from './route.ts'

/** Result of a look-up in the routing table: the destination of a first path segment. */
export type RouteMatch =
  | { readonly kind: 'route'; readonly route: Route; readonly owner: GatewayUser }
  /** Its owner exists and the type is configured, but it was never launched. */
  | {
      readonly kind: 'missing'
      readonly prefix: string
      readonly type: string
      readonly rules: TypeRules
      readonly owner: GatewayUser
    }
  /** `/{slug}`: leads its owner to the container of the first type. */
  | { readonly kind: 'home'; readonly path: string; readonly owner: GatewayUser }
