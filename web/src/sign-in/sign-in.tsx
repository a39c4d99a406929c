import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { signInProblems } from '@berth/api/sign-in-problems.ts'
import { boot, isSignedIn } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { ContactLink } from '#/components/ask-for-help.tsx'
import { rich } from '#/components/rich.tsx'
import { Page } from '#/page/page.tsx'
import { isPage, pages, signInTarget } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import { endedSession } from '#/session/login-redirect.ts'
import { emailIn } from './magic-link-request.ts'
import { SignInWays } from './sign-in-ways.tsx'
import { useSignInElsewhere } from './use-sign-in-elsewhere.ts'

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

/** Why a sign-in by a provider failed. @param code from the URL; an unknown one shows nothing */
function SignInProblem({ code }: { code: string | null }) {
  const t = useTranslations('signIn.problem')
  const problem = signInProblems.find((each) => each === code)
  return (
    <>
      <Alert error={undefined} sentence={problem && t(problem)} />
      {problem && boot.contact !== null && <p>{t.rich('contact', { contact: rich.inPlace(<ContactLink />) })}</p>}
    </>
  )
}
