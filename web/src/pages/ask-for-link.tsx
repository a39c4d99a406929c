import { isSignedIn } from '#/api.ts'
import { EmailForm } from '#/components/email-form.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page.tsx'
import { mailKinds } from '#/mail-request.ts'
import { rememberNext } from '#/next.ts'
import { pages, safeNext, withNext } from '#/paths.ts'
import { go, usePlace } from '#/place.ts'

const words = {
  login: {
    title: 'Sign in',
    lead: 'Enter your e-mail address and we will mail you a link. No password needed.',
    button: 'Mail me a link',
    other: 'New here?',
    otherLink: 'Sign up',
    otherPage: pages.signUp,
  },
  signup: {
    title: 'Sign up',
    lead: 'Enter your e-mail address. The link in the mail finishes your account; there is no password to choose.',
    button: 'Mail me a signup link',
    other: 'Already signed up?',
    otherLink: 'Sign in',
    otherPage: pages.login,
  },
  onTheWay: 'After that you go on to',
  signedIn: 'You are signed in already.',
  goOn: 'Continue',
}

/** Sign-in and sign-up: the same page with other words, one field and one button. */
export function AskForLink({ kind }: { kind: 'login' | 'signup' }) {
  const { query } = usePlace()
  const next = safeNext(query.get('next'))
  const mine = words[kind]

  function sent(email: string) {
    rememberNext(next)
    go(pages.checkMail, { kind, email })
  }

  return (
    <Page title={mine.title} width="narrow">
      {/* No redirect: a document can believe in a token that the API refuses, and the two would send people to and fro. */}
      {isSignedIn() && (
        <p className="note">
          {words.signedIn} <a href={next ?? pages.home}>{words.goOn}</a>
        </p>
      )}
      <p>{mine.lead}</p>
      <EmailForm button={mine.button} send={mailKinds[kind].send} onSent={sent} />
      {next !== undefined && next !== pages.home && (
        <p className="hint">
          {words.onTheWay} <span className="path">{next}</span>
        </p>
      )}
      <p className="switch">
        {mine.other} <Link to={withNext(mine.otherPage, next)}>{mine.otherLink}</Link>
      </p>
    </Page>
  )
}
