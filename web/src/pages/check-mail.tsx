import { useState, type ReactNode } from 'react'
import { connect } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page.tsx'
import { useCountdown } from '#/hooks/use-countdown.ts'
import { useTask } from '#/hooks/use-task.ts'
import { mailKinds, mailRequestIn, type MailRequest } from '#/mail-request.ts'
import { recallNext } from '#/next.ts'
import { pages, withNext } from '#/paths.ts'
import { usePlace } from '#/place.ts'

/** Seconds before the same mail can be asked for again; an honest mail needs about as long. */
const resendPause = 30

/** The API does not tell whether an address is known, so no sentence here may sound as if we knew. */
const words = {
  title: 'Check your mail',
  login: (email: ReactNode) => <>If {email} has an account, a sign-in link is on its way to it.</>,
  signup: (email: ReactNode) => <>A link is on its way to {email}.</>,
  verification: (email: ReactNode) => <>If {email} is waiting to be verified, a new signup link is on its way to it.</>,
  unknown: 'If you asked for a link, it is in your mail.',
  what: 'Open the mail, follow its link in this browser, and press the button on the page that opens. Each link works once.',
  spam: 'Nothing there after a minute? Look into the spam folder too.',
  again: 'Send it again',
  wait: (seconds: number) => `Send it again in ${seconds} s`,
  sending: 'Sending…',
  sentAgain: 'Sent again.',
  wrong: 'Wrong address?',
  other: 'Use another one',
  signIn: 'Back to sign-in',
}

/** Says what to do with the mail, and sends it again on request. */
export function CheckMail() {
  const request = mailRequestIn(usePlace().state)
  return (
    <Page title={words.title} width="narrow">
      <p>{request ? words[request.kind](<b className="address">{request.email}</b>) : words.unknown}</p>
      <p>{words.what}</p>
      <p className="hint">{words.spam}</p>
      {request ? <Resend request={request} /> : <Link to={pages.login}>{words.signIn}</Link>}
    </Page>
  )
}

function Resend({ request }: { request: MailRequest }) {
  const { busy, error, run } = useTask()
  const [left, pauseAgain] = useCountdown(resendPause)
  const [isSent, setSent] = useState(false)
  const { send, askedAt } = mailKinds[request.kind]

  function again() {
    setSent(false)
    void run(async (signal) => {
      // A refusal starts the pause as well: asking faster cannot help.
      pauseAgain()
      await send(connect(signal), request.email)
      setSent(true)
    })
  }

  return (
    <>
      <Alert error={error} />
      <p role="status" className="live">
        {isSent && words.sentAgain}
      </p>
      <Button isOff={busy || left > 0} onPress={again}>
        {busy ? words.sending : left > 0 ? words.wait(left) : words.again}
      </Button>
      <p className="switch">
        {words.wrong} <Link to={withNext(askedAt, recallNext())}>{words.other}</Link>
      </p>
    </>
  )
}
