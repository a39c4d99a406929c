import { useTranslations } from 'use-intl/react'
import { boot, isSignedIn } from '#/api/api-client.ts'
import { ContactLink } from '#/support-contact/ask-for-help.tsx'
import { SignInWays } from '#/components/sign-in/sign-in-ways.tsx'
import { Page } from '#/components/page/page.tsx'
import { rich } from '#/components/rich.tsx'
import type { MagicLinkRefusal } from '#/session/magic-link-refusal.ts'
import { recallReturnPath } from '#/session/return-path.ts'
import { pages } from '#/paths.ts'

/** Says why a link was refused, and offers the next step. */
export function RefusedMagicLink({ why }: { why: MagicLinkRefusal }) {
  const t = useTranslations('signIn.refused')
  return (
    <Page title={t(`${why}.title`)} width="narrow">
      <p>{t(`${why}.what`)}</p>
      <WayOut why={why} todo={t(`${why}.todo`)} />
    </Page>
  )
}

function WayOut({ why, todo }: { why: MagicLinkRefusal; todo: string }) {
  const t = useTranslations('signIn.verify')
  const next = recallReturnPath()
  if (why === 'blocked')
    return (
      <>
        <p>{todo}</p>
        {boot.contact !== null && <p>{t.rich('contact', { contact: rich.inPlace(<ContactLink />) })}</p>}
      </>
    )
  // Most used links were used in this browser.
  if (isSignedIn())
    return (
      <>
        <p>{t('signedIn')}</p>
        <p className="actions">
          <a className="button primary" href={next ?? pages.home}>
            {t('continue')}
          </a>
        </p>
      </>
    )
  return (
    <>
      {boot.signIn.isByLink && <p>{todo}</p>}
      <SignInWays button={t('newLink')} next={next} />
    </>
  )
}
