import { connect } from '#/api.ts'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { isSignedOut, sentenceOf } from '#/errors.ts'
import { leave } from '#/hooks/use-berths.ts'
import { useTask } from '#/hooks/use-task.ts'
import { pages } from '#/paths.ts'
import { usePlace } from '#/place.ts'

const words = {
  sessions: 'Where you are signed in',
  containers: 'Your containers',
  signOut: 'Sign out',
  busy: 'Signing out…',
  failed: 'You are still signed in.',
}

/** Who is signed in, the way between their pages, and the way out. The address is missing while it is being looked up. */
export function Account({ email }: { email: string | undefined }) {
  const { busy, error, run } = useTask()
  const { path } = usePlace()

  function signOut() {
    void run(async (signal) => {
      await connect(signal)
        .logOut()
        .catch((reason: unknown) => {
          // Signed out already, perhaps in another tab: that is what was asked for.
          if (!isSignedOut(reason)) throw reason
        })
      leave()
    })
  }

  return (
    <div className="account">
      {email !== undefined && <span className="address">{email}</span>}
      {path === pages.sessions ? (
        <Link to={pages.home}>{words.containers}</Link>
      ) : (
        <Link to={pages.sessions}>{words.sessions}</Link>
      )}
      <Button look="small" isOff={busy} onPress={signOut}>
        {busy ? words.busy : words.signOut}
      </Button>
      <div role="alert" className="live">
        {error !== undefined && (
          <p className="alert">
            {words.failed} {sentenceOf(error)}
          </p>
        )}
      </div>
    </div>
  )
}
