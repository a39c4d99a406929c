import { useEffect } from 'react'
import { connect, isSignedIn } from '#/api.ts'
import { recallNext } from '#/next.ts'
import { pages } from '#/paths.ts'

/**
 * Goes on when somebody has signed in meanwhile, in another tab: looked at whenever this page is seen again. Nobody is sent
 * away from here who was signed in already, and asks for a link for another account.
 */
export function useSignInElsewhere(): void {
  useEffect(() => {
    if (isSignedIn()) return
    let current: AbortController | undefined
    const look = () => {
      if (document.visibilityState !== 'visible') return
      current?.abort()
      current = new AbortController()
      connect(current.signal)
        .me()
        // A real navigation: the next document is told that somebody is signed in.
        .then(() => location.replace(recallNext() ?? pages.home))
        .catch(() => {
          // Nobody is, or nobody answers: then this page is right as it is.
        })
    }
    document.addEventListener('visibilitychange', look)
    addEventListener('focus', look)
    return () => {
      current?.abort()
      document.removeEventListener('visibilitychange', look)
      removeEventListener('focus', look)
    }
  }, [])
}
