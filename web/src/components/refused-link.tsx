import { useTranslations } from 'use-intl/react'
import { boot, isSignedIn } from '#/api.ts'
import { Contact } from '#/components/contact.tsx'
import { EmailForm } from '#/components/email-form.tsx'
import { Page } from '#/components/page.tsx'
import { rich } from '#/components/rich.tsx'
import type { LinkRefusal } from '#/link-refusal.ts'
import { recallNext } from '#/next.ts'
import { pages } from '#/paths.ts'

/** Says why a link let nobody in, and offers the one step that helps. */
export function RefusedLink({ why }: { why: LinkRefusal }) {
  const t = useTranslations('signIn.refused')
  return (
    <Page title={t(`${why}.title`)} width="narrow">
      <p>{t(`${why}.what`)}</p>
      <WayOut why={why} todo={t(`${why}.todo`)} />
    </Page>
  )
}

function WayOut({ why, todo }: { why: LinkRefusal; todo: string }) {
  const t = useTranslations('signIn.verify')
  const next = recallNext()
  if (why === 'blocked')
    return (
      <>
        <p>{todo}</p>
        {boot.contact !== null && <p>{t.rich('contact', { contact: rich.inPlace(<Contact />) })}</p>}
      </>
    )
  // Most used links were used right here.
  if (isSignedIn())
    return (
      <>
        <p>{t('signedIn')}</p>
        <p className="actions">
          <a className="button primary" href={next ?? pages.home}>
            {t('goOn')}
          </a>
        </p>
      </>
    )
  return (
    <>
      <p>{todo}</p>
      <EmailForm button={t('newLink')} next={next} />
    </>
  )
}
