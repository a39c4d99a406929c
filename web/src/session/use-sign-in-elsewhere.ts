import { useEffect } from 'react'
import { createApiClient, isSignedIn } from '#/api/api-client.ts'
import { recallReturnPath } from '#/session/return-path.ts'
import { pages } from '#/paths.ts'

/**
 * Continues when the user has signed in meanwhile in another tab: checked whenever this page becomes visible or gets
 * the focus. A channel between tabs could be used by pages of containers, too, because they share the origin. A user
 * who was signed in already and requests a link for another account is not redirected.
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
    return () => {
      current?.abort()
      document.removeEventListener('visibilitychange', checkIfVisible)
      removeEventListener('focus', checkIfVisible)
    }
  }, [next])
}
