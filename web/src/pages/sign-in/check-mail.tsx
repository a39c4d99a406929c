import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page/page.tsx'
import { rich } from '#/components/rich.tsx'
import { ProviderButtons } from '#/components/sign-in/provider-buttons.tsx'
import { ResendMagicLink } from '#/components/sign-in/resend-magic-link.tsx'
import { useDuration } from '#/time/duration.ts'
import { useSignInElsewhere } from '#/session/use-sign-in-elsewhere.ts'
import { magicLinkRequestIn } from '#/session/magic-link-request.ts'
import { recallReturnPath } from '#/session/return-path.ts'
import { pages, withNext } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'

/** Says what to do with the mail, sends it again on request, and continues when its link was used in another tab. */
export function CheckMail() {
  const t = useTranslations('signIn.check')
  const durationOf = useDuration()
  const { state } = useLocation()
  const request = magicLinkRequestIn(state)
  const next = recallReturnPath()
  const signInPage = withNext(pages.login, next)
  useSignInElsewhere()

  return (
    <Page title={t('title')} width="narrow">
      <p>{request ? t.rich('sent', { email: request.email, b: rich.address }) : t('unknown')}</p>
      <p>{boot.linkLifetime === null ? t('what') : t('whatUntil', { lifetime: durationOf(boot.linkLifetime) })}</p>
      <h2>{t('nothing')}</h2>
      <ul className="hints">
        <li>{t('spam')}</li>
        <li>{t('slowMail')}</li>
        {request && (
          <li>
            {t.rich('typo', {
              change: rich.link(signInPage, { email: request.email }),
            })}
          </li>
        )}
      </ul>
      {request ? <ResendMagicLink request={request} /> : <Link to={signInPage}>{t('back')}</Link>}
      {boot.signIn.providers.length > 0 && (
        <>
          <h2>{t('withoutMail')}</h2>
          <ProviderButtons next={next} />
        </>
      )}
    </Page>
  )
}
