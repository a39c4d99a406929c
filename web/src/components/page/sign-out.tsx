import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Button } from '#/components/button.tsx'
import { isSignedOut } from '#/api/errors.ts'
import { useErrorMessage } from '#/i18n/use-error-message.ts'
import { useTask } from '#/components/use-task.ts'
import { endSessionAndRedirect } from '#/session/login-redirect.ts'
import { pages } from '#/paths.ts'

/** Signs out. Says that the user is still signed in when it fails: they may be about to leave a shared computer. */
export function SignOut() {
  const t = useTranslations('frame.nav')
  const { busy, error, run } = useTask()
  const sentenceOf = useErrorMessage()

  function signOut() {
    void run((signal) => {
      let atProvider: string | null = null
      const end = () =>
        createApiClient(signal)
          .logOut()
          // The provider that the session began at would otherwise sign the next user in again without asking.
          .then(({ logout_url }) => (atProvider = logout_url))
          .catch((reason: unknown) => {
            // Signed out already, perhaps in another tab: the goal is reached.
            if (!isSignedOut(reason)) throw reason
            return null
          })
      // The login page gives no reason for a sign-in that the user has ended.
      return endSessionAndRedirect(end, () => atProvider ?? pages.login)
    })
  }

  return (
    <>
      <Button variant="small" isOff={busy} onPress={signOut}>
        {busy ? t('signingOut') : t('signOut')}
      </Button>
      <div role="alert" className="live">
        {error !== undefined && (
          <p className="alert">
            {t('stillSignedIn')} {sentenceOf(error)}
          </p>
        )}
      </div>
    </>
  )
}
