import { useTranslations } from 'use-intl/react'
import { canAct, isSignedIn } from '#/api/api-client.ts'
import { pages } from '#/paths.ts'

/** Id of the text that says why nothing can be changed on this page: buttons that are off refer to it. */
export const signInNote = 'sign-in-note'

/**
 * On plain http, after a reload: the document has no CSRF value, so nothing can be changed from it, and buttons do nothing. It leads
 * back to this page.
 */
export function SignInNote() {
  const t = useTranslations('frame.signInAgain')
  if (!isSignedIn() || canAct()) return null
  return (
    <div className="note with-action">
      <p id={signInNote}>{t('text')}</p>
      <a className="button primary" href={`${pages.login}?next=${encodeURIComponent(location.pathname)}`}>
        {t('link')}
      </a>
    </div>
  )
}
