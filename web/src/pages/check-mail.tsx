import { useTranslations } from 'use-intl/react'
import { boot } from '#/api.ts'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page.tsx'
import { rich } from '#/components/rich.tsx'
import { Resend } from '#/components/resend.tsx'
import { useDuration } from '#/hooks/use-duration.ts'
import { useSignInElsewhere } from '#/hooks/use-sign-in-elsewhere.ts'
import { mailRequestIn } from '#/mail-request.ts'
import { recallNext } from '#/next.ts'
import { pages, withNext } from '#/paths.ts'
import { usePlace } from '#/place.ts'

/** Says what to do with the mail, sends it again on request, and goes on when its link was used in another tab. */
export function CheckMail() {
  const t = useTranslations('signIn.check')
  const durationOf = useDuration()
  const { state } = usePlace()
  const request = mailRequestIn(state)
  const askPage = withNext(pages.login, recallNext())
  useSignInElsewhere()

  return (
    <Page title={t('title')} width="narrow">
      <p>{request ? t.rich('sent', { email: request.email, b: rich.address }) : t('unknown')}</p>
      <p>{boot.linkLifetime === null ? t('what') : t('whatUntil', { lifetime: durationOf(boot.linkLifetime) })}</p>
      <h2>{t('nothing')}</h2>
      <ul className="hints">
        <li>{t('spam')}</li>
        <li>{t('patience')}</li>
        {request && (
          <li>
            {t.rich('typo', {
              change: rich.link(askPage, { email: request.email }),
            })}
          </li>
        )}
      </ul>
      {request ? <Resend request={request} /> : <Link to={askPage}>{t('back')}</Link>}
    </Page>
  )
}
