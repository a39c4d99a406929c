import { useEffect } from 'react'
import { createApiClient, isSignedIn } from '#/api/api-client.ts'
import { pages } from '#/paths.ts'
import { sessionChannel } from '#/session/session-channel.ts'
import { recallReturnPath } from './return-path.ts'

/**
 * Continues when the user has signed in meanwhile in another tab: checked when that tab announces it, and whenever this
 * page becomes visible or gets the focus. The server alone says whether it is so. A user who was signed in already and
 * requests a link for another account is not redirected.
 * @param next the target; by default the stored return path
 */
export function useSignInElsewhere(next?: string): void {
  useEffect(() => {
    if (isSignedIn()) return
    let current: AbortController | undefined
    const check = () => {
      current?.abort()
      current = new AbortController()
      createApiClient(current.signal)
        .me()
        // A real navigation, so that the next document knows the user.
        .then(() => location.replace(next ?? recallReturnPath() ?? pages.home))
        .catch(() => {
          // Not signed in, or no response: this page stays.
        })
    }
    const checkIfVisible = () => document.visibilityState === 'visible' && check()
    document.addEventListener('visibilitychange', checkIfVisible)
    addEventListener('focus', checkIfVisible)
    const unsubscribe = sessionChannel.subscribe(check)
    return () => {
      unsubscribe()
      current?.abort()
      document.removeEventListener('visibilitychange', checkIfVisible)
      removeEventListener('focus', checkIfVisible)
    }
  }, [next])
}
