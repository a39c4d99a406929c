import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { checkMail } from '#/messages/check-mail.ts'
import { Page } from '#/page/page.tsx'
import { pages, withNext } from '#/paths.ts'
import { replaceHistoryState, useLocation } from '#/router/router.ts'
import { useNow } from '#/time/time.tsx'
import { useDuration } from './duration.ts'
import { linksLeftAt, magicLinkRequestIn, secondsToWait, type MagicLinkRequest } from './magic-link-request.ts'
import { recallReturnPath } from './return-path.ts'
import { ProviderButtons, requestMagicLink } from './sign-in-ways.tsx'
import { useSignInElsewhere } from './use-sign-in-elsewhere.ts'

/** Says what to do with the mail, sends it again on request, and continues when its link was used in another tab. */
export const CheckMail = withTexts({ checkMail }, CheckMailPage)

function CheckMailPage() {
  const t = useTranslations('checkMail')
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

/** Sends the same mail again, after a delay, and says how many more there are. */
function ResendMagicLink({ request }: { request: MagicLinkRequest }) {
  const t = useTranslations('checkMail')
  const { busy, error, run } = useTask()
  const [isSent, setSent] = useState(false)
  const now = useNow()
  const wait = secondsToWait(request, now)
  const left = linksLeftAt(request, now)

  function again() {
    setSent(false)
    void run(async (signal) => {
      // In the history entry, so that a reload keeps it. A refusal for the limit starts the delay as well.
      replaceHistoryState(
        await requestMagicLink(request.email, signal, { isTypedHere: false, onLimit: replaceHistoryState }),
      )
      setSent(true)
    })
  }

  return (
    <>
      <Alert error={error} />
      <p role="status" className="live">
        {isSent && t('sentAgain')}
      </p>
      <div className="actions with-hint">
        <Button isOff={busy || wait > 0} onPress={again}>
          <Again wait={busy ? 0 : wait} />
        </Button>
        {left !== undefined && <p className="hint">{t('left', { left })}</p>}
      </div>
    </>
  )
}

function Again({ wait }: { wait: number }) {
  const t = useTranslations('checkMail')
  const durationOf = useDuration()
  if (wait > 90) return t('inMinutes', { time: durationOf(Math.ceil(wait / 60) * 60) })
  return wait > 0 ? t('inSeconds', { seconds: wait }) : t('again')
}
