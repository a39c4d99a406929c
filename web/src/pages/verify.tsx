import { useState } from 'react'
import { ApiError, type Client } from '@berth/api/client.ts'
import { connectToSignIn, keepToken } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { EmailForm } from '#/components/email-form.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page.tsx'
import { isUnverified } from '#/errors.ts'
import { useTask } from '#/hooks/use-task.ts'
import { mailKinds } from '#/mail-request.ts'
import { recallNext, takeNext } from '#/next.ts'
import { isPage, pages, withNext } from '#/paths.ts'
import { dropState, go, tokenIn, usePlace } from '#/place.ts'

const words = {
  login: {
    title: 'Sign in to Berth',
    lead: 'One more step: press the button to sign in with your link.',
    button: 'Sign in',
    newLink: 'Ask for a new sign-in link',
    verify: (api: Client, token: string) => api.verifyLogin({ query: { token } }),
  },
  signup: {
    title: 'Finish signing up',
    lead: 'One more step: press the button to confirm your address. Your first container is prepared meanwhile.',
    button: 'Finish signing up',
    newLink: 'Sign in instead',
    verify: (api: Client, token: string) => api.verifySignup({ query: { token } }),
  },
  busy: 'One moment…',
  incomplete: 'This link is incomplete. Open the whole link from the mail, or ask for a new one.',
  resend: 'Send me a new signup link',
  resendLead: 'Which address did you sign up with?',
}

/** Where mail links lead. Opening it uses nothing up, because mail scanners open pages too; the button does. */
export function Verify({ kind }: { kind: 'login' | 'signup' }) {
  const { state } = usePlace()
  // Kept from the first render on: the history entry forgets a token that was refused.
  const [token] = useState(() => tokenIn(state))
  const { busy, error, run } = useTask()
  const [isDone, setDone] = useState(false)
  const mine = words[kind]
  const isRefused = error instanceof ApiError && error.status < 500

  function verify(given: string) {
    void run(async (signal) => {
      const { access_token } = await mine.verify(connectToSignIn(signal), given).catch(forgetRefused)
      setDone(true)
      enter(access_token, takeNext())
    })
  }

  return (
    <Page title={mine.title} width="narrow">
      {token === undefined ? <p className="alert">{words.incomplete}</p> : !isRefused && <p>{mine.lead}</p>}
      <Alert error={error} takesFocus={isRefused} />
      {token === undefined || isRefused ? (
        <WayOut kind={kind} error={error} />
      ) : (
        <Button look="primary" isOff={busy || isDone} onPress={() => verify(token)}>
          {busy || isDone ? words.busy : mine.button}
        </Button>
      )}
    </Page>
  )
}

/**
 * A real navigation, where it is of use: the server puts the CSRF value of the new session into the next document.
 * On plain http it cannot, so our own pages go on in this one.
 */
function enter(accessToken: string, next: string | undefined): void {
  const to = next ?? pages.home
  if (isSecureContext || !isPage(to)) return location.replace(to)
  keepToken(accessToken)
  go(to)
}

/** A used, expired or wrong token would only be refused again after a reload. */
function forgetRefused(error: unknown): never {
  if (error instanceof ApiError && error.status === 400) dropState()
  throw error
}

/** What helps after a refusal: a new link of the kind that this person can use. */
function WayOut({ kind, error }: { kind: 'login' | 'signup'; error: unknown }) {
  const [isAsking, setAsking] = useState(false)
  const isBlocked = error instanceof ApiError && error.status === 403 && !isUnverified(error)
  if (isBlocked) return null
  if (isAsking) return <AskForSignupLink />
  return (
    <>
      {(kind === 'signup' || isUnverified(error)) && (
        <Button look="primary" onPress={() => setAsking(true)}>
          {words.resend}
        </Button>
      )}
      <p className="switch">
        <Link to={withNext(pages.login, recallNext())}>{words[kind].newLink}</Link>
      </p>
    </>
  )
}

function AskForSignupLink() {
  return (
    <>
      <p>{words.resendLead}</p>
      <EmailForm
        takesFocus
        button={words.resend}
        send={mailKinds.verification.send}
        onSent={(email) => go(pages.checkMail, { kind: 'verification', email })}
      />
    </>
  )
}
