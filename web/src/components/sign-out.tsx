import { useTranslations } from 'use-intl/react'
import { connect } from '#/api.ts'
import { Button } from '#/components/button.tsx'
import { isSignedOut } from '#/errors.ts'
import { useSentence } from '#/hooks/use-sentence.ts'
import { useTask } from '#/hooks/use-task.ts'
import { endAndGo } from '#/leave.ts'
import { pages } from '#/paths.ts'

/** The way out. Says that one is still signed in when it fails: somebody may be about to walk away from a shared computer. */
export function SignOut() {
  const t = useTranslations('frame.nav')
  const { busy, error, run } = useTask()
  const sentenceOf = useSentence()

  function signOut() {
    void run((signal) => {
      const end = () =>
        connect(signal)
          .logOut()
          .catch((reason: unknown) => {
            // Signed out already, perhaps in another tab: that is what was asked for.
            if (!isSignedOut(reason)) throw reason
          })
      // Nobody has to be told why a sign-in is over that they have ended themselves.
      return endAndGo(end, pages.login)
    })
  }

  return (
    <>
      <Button look="small" isOff={busy} onPress={signOut}>
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
