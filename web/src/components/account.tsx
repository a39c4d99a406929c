import { useTranslations } from 'use-intl/react'
import { connect } from '#/api.ts'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { isSignedOut } from '#/errors.ts'
import { useMe } from '#/hooks/use-me.ts'
import { useSentence } from '#/hooks/use-sentence.ts'
import { useTask } from '#/hooks/use-task.ts'
import { leave } from '#/leave.ts'
import { pages } from '#/paths.ts'
import { usePlace } from '#/place.ts'

/** Who is signed in, the way between their pages, and the way out. The address is missing while it is being looked up. */
export function Account() {
  const t = useTranslations('frame.nav')
  const { busy, error, run } = useTask()
  const { path } = usePlace()
  const me = useMe()
  const sentenceOf = useSentence()

  function signOut() {
    void run(async (signal) => {
      await connect(signal)
        .logOut()
        .catch((reason: unknown) => {
          // Signed out already, perhaps in another tab: that is what was asked for.
          if (!isSignedOut(reason)) throw reason
        })
      leave()
    })
  }

  return (
    <div className="account">
      {me && <span className="address">{me.email}</span>}
      <nav aria-label={t('label')}>
        {path !== pages.home && <Link to={pages.home}>{t('containers')}</Link>}
        {path !== pages.sessions && <Link to={pages.sessions}>{t('sessions')}</Link>}
        {me?.is_admin && <Link to={pages.admin}>{t('admin')}</Link>}
      </nav>
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
    </div>
  )
}
