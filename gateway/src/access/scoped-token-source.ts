import type { ControlPlane, GatewayUser } from '#/port/gateway.ts'
import { clock } from '#/basics/clock.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import type { Route } from '#/upstream/route.ts'

/** A token is asked for anew when it has less than this left, in ms, and waited for when it has less than that. */
const [refreshBefore, minRemaining] = [300_000, 10_000]

/**
 * The token that the app gets in place of the caller's own. At once when there is one; a promise at the first request with
 * a token to an app, and after a change of the user. Without a control plane the last one is used on, even past its end:
 * then the app decides. The caller of this function checks after the wait that the user is still the same object.
 * @param user of the caller, as it is now @returns undefined when none can be had; the app then sees no token
 */
export function scopedTokenFor(
  control: ControlPlane,
  route: Route,
  caller: Caller,
  user: GatewayUser,
): string | undefined | Promise<string | undefined> {
  // Settings refuse `full` with another access than `owner`; a visitor's own token would be the app's to use everywhere.
  const isOwnFull = route.rules.forwardToken === 'full' && caller.userId === route.entry.ownerId
  // A token that opens a container's host is the browser's alone.
  if (isOwnFull && caller.audience === null) return caller.token
  const known = route.scopedTokens.get(caller.jti, user)
  if (known && known.expiresAt - clock.wall > refreshBefore) return known.token
  const pending = requestToken(control, route, caller, user)
  if (!known) return pending
  return known.expiresAt - clock.wall > minRemaining ? known.token : pending.then((token) => token ?? known.token)
}

function requestToken(
  control: ControlPlane,
  route: Route,
  { userId, jti, acting }: Caller,
  user: GatewayUser,
): Promise<string | undefined> {
  const before = route.pendingTokens.get(jti)
  if (before?.user === user) return before.answer
  const answer = control
    .scopedToken(userId, route.entry.prefix, acting)
    .then(
      (scoped) => {
        route.scopedTokens.set(jti, user, scoped)
        return scoped.token
      },
      () => undefined,
    )
    .finally(() => {
      // After a change of the user a later question may be pending already.
      if (route.pendingTokens.get(jti)?.answer === answer) route.pendingTokens.delete(jti)
    })
  route.pendingTokens.set(jti, { user, answer })
  return answer
}
