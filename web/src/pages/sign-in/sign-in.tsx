import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, isSignedIn } from '#/api/api-client.ts'
import { SignInProblem } from '#/components/sign-in/sign-in-problem.tsx'
import { SignInWays } from '#/components/sign-in/sign-in-ways.tsx'
import { Page } from '#/components/page/page.tsx'
import { rich } from '#/components/rich.tsx'
import { endedSession } from '#/session/ended-session.ts'
import { useSignInElsewhere } from '#/session/use-sign-in-elsewhere.ts'
import { emailIn } from '#/session/magic-link-request.ts'
import { isPage, pages, signInTarget } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'

/** Why a sign-in ended, by the name of the refusal. */
const reasons: Readonly<Record<string, 'endedExpired' | 'endedReplayed' | 'endedBlocked' | undefined>> = {
  sessionExpired: 'endedExpired',
  sessionReplayed: 'endedReplayed',
  sessionBlocked: 'endedBlocked',
}

/** The session that ended in this tab, or of which the server says so. @param why of the query */
const endedIn = (why: string | null) => (why === null ? endedSession() : { why, email: endedSession()?.email })

/** Sign-in and sign-up: one field and one button for every user; see `requestMagicLink` for why one form is enough. */
export function SignIn() {
  const t = useTranslations('signIn.ask')
  const { path, query, state } = useLocation()
  const next = signInTarget(path, query)
  const [ended] = useState(() => (isSignedIn() ? undefined : endedIn(query.get('ended'))))
  const isToContainer = next !== undefined && !isPage(next)
  const lead = boot.signIn.providers.length > 0 ? 'orLead' : 'lead'
  useSignInElsewhere(next)

  return (
    <Page title={t('title')} width="narrow">
      {/* No redirect: a document can hold a token that the API refuses, and the two would redirect in a loop. */}
      {isSignedIn() && (
        <p className="note">
          {t('signedIn')} <a href={next ?? pages.home}>{t('continue')}</a>
        </p>
      )}
      {/* Why the sign-in page appears in the middle of work. */}
      {ended && <p className="note">{t(reasons[ended.why ?? ''] ?? 'ended')}</p>}
      {!ended && !isSignedIn() && isToContainer && <p className="note">{t('toContainer')}</p>}
      <SignInProblem code={query.get('problem')} />
      <SignInWays lead={t(lead)} button={t('button')} email={emailIn(state) ?? ended?.email} next={next} />
      {boot.signIn.isByLink && <p className="hint">{t('noMail')}</p>}
      {next !== undefined && next !== pages.home && (
        <p className="hint">{t.rich('onTheWay', { next, path: rich.path })}</p>
      )}
    </Page>
  )
}
