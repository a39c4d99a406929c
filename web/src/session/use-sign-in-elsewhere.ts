import { useEffect } from 'react'
import { createApiClient, isSignedIn } from '#/api/api-client.ts'
import { recallReturnPath } from '#/session/return-path.ts'
import { pages } from '#/paths.ts'

/**
 * Goes on when somebody has signed in meanwhile, in another tab: looked at whenever this page is seen or focused again. A
 * channel between tabs would be one that pages of containers can speak on, too: they share the origin. Nobody is sent away from here who was signed in already, and asks for a link for another account.
 * @param next where to; where the person wanted to go when they asked for a link, when it is not said
 */
export function useSignInElsewhere(next?: string): void {
  useEffect(() => {
    if (isSignedIn()) return
    let current: AbortController | undefined
    const look = () => {
      current?.abort()
      current = new AbortController()
      createApiClient(current.signal)
        .me()
        // A real navigation: the next document is told that somebody is signed in.
        .then(() => location.replace(next ?? recallReturnPath() ?? pages.home))
        .catch(() => {
          // Nobody is, or nobody answers: then this page is right as it is.
        })
    }
    const lookIfSeen = () => document.visibilityState === 'visible' && look()
    document.addEventListener('visibilitychange', lookIfSeen)
    addEventListener('focus', lookIfSeen)
    return () => {
      current?.abort()
      document.removeEventListener('visibilitychange', lookIfSeen)
      removeEventListener('focus', lookIfSeen)
    }
  }, [next])
}
