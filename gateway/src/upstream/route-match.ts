import type { TypeRules } from '#/port/gateway-settings.ts'
import type { GatewayUser } from '#/port/gateway-state.ts'

/** Result of a look-up in the routing table: the destination of a first path segment. */
export type RouteMatch =
  | {
      readonly kind: 'container'
      readonly type: string
      readonly rules: TypeRules
      readonly owner: GatewayUser
      /** Whether the container itself is; false also when it was never launched, and has no route. */
      readonly isBlocked: boolean
    }
  /** `/{slug}`: leads its owner to the container of the first type. */
  | { readonly kind: 'home'; readonly path: string; readonly owner: GatewayUser }
