import type { ControlPlane } from '../gateway.ts'
import { clock } from '../coarse-clock.ts'
import type { Caller } from './token-verifier.ts'
import type { Route } from '../upstream/route.ts'

/** A token is asked for anew when it has less than this left, in ms, and waited for when it has less than that. */
const [refreshBefore, minRemaining] = [300_000, 10_000]

/**
 * The token that the app gets in place of the caller's own. At once when there is one; a promise at the first request of
 * a person to an app. Without a control plane the last one is used on, even past its end: then the app decides.
 * @returns undefined when none can be had; the app then sees no token
 */
export function scopedTokenFor(
  control: ControlPlane,
  route: Route,
  caller: Caller,
): string | undefined | Promise<string | undefined> {
  // Settings refuse `full` with another access than `owner`; a visitor's own token would be the app's to use everywhere.
  if (route.rules.forwardToken === 'full' && caller.userId === route.entry.ownerId) return caller.token
  const known = route.scopedTokens.get(nameOf(caller))
  if (known && known.expiresAt - clock.wall > refreshBefore) return known.token
  const pending = requestToken(control, route, caller)
  if (!known) return pending
  return known.expiresAt - clock.wall > minRemaining ? known.token : pending.then((token) => token ?? known.token)
}

/** An administrator who acts for a person is not that person: their tokens must not be mixed up. */
const nameOf = ({ userId, acting }: Caller) => (acting === null ? `${userId}` : `${userId} ${acting}`)

function requestToken(control: ControlPlane, route: Route, caller: Caller): Promise<string | undefined> {
  const name = nameOf(caller)
  const before = route.pendingTokens.get(name)
  if (before) return before
  const answer = control.scopedToken(caller.userId, route.entry.prefix, caller.acting).then(
    (scoped) => {
      route.scopedTokens.set(name, scoped)
      route.pendingTokens.delete(name)
      return scoped.token
    },
    () => {
      route.pendingTokens.delete(name)
      return undefined
    },
  )
  route.pendingTokens.set(name, answer)
  return answer
}
