import { useQuery } from '@tanstack/react-query'
import { boot, createApiClient, endsWithPage, isSignedIn } from '#/api/api-client.ts'
import { unregisterForeignServiceWorkers } from '#/session/unregister-service-workers.ts'
import { isRedirecting, rememberEmail } from '#/session/login-redirect.ts'

/** Whose this document is: what it shows, its proofs and its banner are of this person alone. */
let owner: number | undefined

/** The signed-in person; undefined while they are being looked up, and when nobody is signed in. */
export function useMe() {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => {
      const { user } = await createApiClient(signal).me()
      // Who acts for somebody is not to leave with what that person's containers put here.
      if (owner === undefined) void unregisterForeignServiceWorkers(boot.acting === null ? user.slug : undefined)
      owner ??= user.id
      if (user.id !== owner) becomeTheirs()
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
 * Another tab signed somebody else in, acts for somebody, or does so no more: this page would show what is theirs under the
 * name of who was there before, and without the banner. Not below a dialog, whose words may stand nowhere else, nor where
 * the sign-in would end with the page, nor where this very page made it so and goes on by itself.
 */
function becomeTheirs(): void {
  if (!endsWithPage() && !isRedirecting() && document.querySelector('dialog[open]') === null) location.reload()
}
