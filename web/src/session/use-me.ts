import { useQuery } from '@tanstack/react-query'
import { boot, createApiClient, isSignInLostOnLeave, isSignedIn } from '#/api/api-client.ts'
import { unregisterForeignServiceWorkers } from '#/session/unregister-service-workers.ts'
import { isRedirecting, rememberEmail } from './login-redirect.ts'

/** The user of this document: its content, its proofs and its banner belong to this user alone. */
let owner: number | undefined

/** The signed-in user; undefined while loading, and when no user is signed in. */
export function useMe() {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => {
      const { user } = await createApiClient(signal).me()
      if (owner === undefined) void unregisterForeignServiceWorkers(user.slug, boot)
      owner ??= user.id
      if (user.id !== owner) reloadForOtherUser()
      rememberEmail(user.email)
      return user
    },
    enabled: isSignedIn(),
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
  })
  return data
}

/**
 * Reloads when another tab signed another user in, or started or ended a takeover: this page would otherwise show one
 * user's data under another's name, and without the banner. It waits until an open dialog is closed, whose input would
 * be lost, and does nothing where the sign-in would end with the page, and where this page made the change and
 * navigates by itself.
 */
function reloadForOtherUser(): void {
  if (isSignInLostOnLeave() || isRedirecting()) return
  const dialog = document.querySelector('dialog[open]')
  if (dialog === null) location.reload()
  else dialog.addEventListener('close', reloadForOtherUser, { once: true })
}
