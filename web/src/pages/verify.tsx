import { useEffect, useEffectEvent, useState } from 'react'
import type { Client } from '@berth/api/client.ts'
import { useTranslations } from 'use-intl/react'
import { boot, connectToSignIn, keepToken } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Page } from '#/components/page.tsx'
import { RefusedLink } from '#/components/refused-link.tsx'
import { useTask } from '#/hooks/use-task.ts'
import { linkRefusalIn } from '#/link-refusal.ts'
import { takeNext } from '#/next.ts'
import { isPage, pages } from '#/paths.ts'
import { dropState, go, tokenIn, usePlace } from '#/place.ts'
import { queries } from '#/queries.ts'

const kinds = {
  login: {
    verify: (api: Client, token: string) => api.verifyLogin({ query: { token } }),
    words: { title: 'loginTitle', lead: 'loginLead', button: 'loginButton' },
  },
  signup: {
    verify: (api: Client, token: string) => api.verifySignup({ query: { token } }),
    words: { title: 'signupTitle', lead: 'signupLead', button: 'signupButton' },
  },
} as const

/**
 * Where mail links lead. Opening it uses nothing up, because mail scanners open pages too; the button does. Only in the very
 * browser that asked for the link it goes on by itself, and the button is there when that fails.
 */
export function Verify({ kind }: { kind: 'login' | 'signup' }) {
  const t = useTranslations('signIn.verify')
  const { state } = usePlace()
  // Kept from the first render on: the history entry forgets a token that was refused.
  const [token] = useState(() => tokenIn(state))
  const { busy, error, run } = useTask()
  const [isDone, setDone] = useState(false)
  const { verify, words } = kinds[kind]
  const refusal = token === undefined ? 'incomplete' : linkRefusalIn(error)
  const isGoingOn = boot.askedHere && error === undefined

  function use() {
    if (token === undefined) return
    void run(async (signal) => {
      const { access_token } = await verify(connectToSignIn(signal), token).catch(forgetRefused)
      setDone(true)
      enter(access_token, takeNext())
    })
  }
  const goOn = useEffectEvent(use)
  useEffect(() => {
    if (!boot.askedHere) return
    // Not at once: a page that React takes away and puts back, as it does in development, would use the link up unseen.
    const timer = setTimeout(goOn)
    return () => clearTimeout(timer)
  }, [])

  if (refusal !== undefined) return <RefusedLink why={refusal} />
  return (
    <Page title={t(words.title)} width="narrow">
      <p>{isGoingOn ? t('goingOn') : t(words.lead)}</p>
      <Alert error={error} />
      <Button look="primary" isOff={busy || isDone || isGoingOn} onPress={use}>
        {busy || isDone || isGoingOn ? t('busy') : t(words.button)}
      </Button>
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
  // It may be of somebody else, who was signed in before.
  queries.clear()
  go(to)
}

/** A used, expired or wrong token would only be refused again after a reload. */
function forgetRefused(error: unknown): never {
  const refusal = linkRefusalIn(error)
  if (refusal !== undefined && refusal !== 'blocked' && refusal !== 'unverified') dropState()
  throw error
}
