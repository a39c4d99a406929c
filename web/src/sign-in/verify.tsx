import { useEffect, useEffectEvent, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Client } from '@berth/api/client.ts'
import { boot, createSignInClient, isSignedIn, keepAccessToken } from '#/api/api-client.ts'
import { queryClient } from '#/api/query-client.ts'
import { Alert } from '#/components/alert.tsx'
import { ContactLink } from '#/components/ask-for-help.tsx'
import { Button } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { Page } from '#/page/page.tsx'
import { isPage, pages } from '#/paths.ts'
import { clearHistoryState, navigate, tokenIn, useLocation } from '#/router/router.ts'
import { sessionChannel } from '#/session/session-channel.ts'
import { magicLinkRefusalIn, type MagicLinkRefusal } from './magic-link-request.ts'
import { recallReturnPath, takeReturnPath } from './return-path.ts'
import { SignInWays } from './sign-in-ways.tsx'

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
 * The target of mail links. Opening it does not use the link up, because mail scanners open pages, too; the button
 * does. Only in the browser that requested the link it continues automatically, and the button appears when that fails.
 */
export function Verify({ kind }: { kind: 'login' | 'signup' }) {
  const t = useTranslations('signIn.verify')
  const { state } = useLocation()
  // Kept from the first render on: a refused token is removed from the history entry.
  const [token] = useState(() => tokenIn(state))
  const { busy, error, run } = useTask()
  const [isDone, setDone] = useState(false)
  const { verify, words } = kinds[kind]
  const refusal = token === undefined ? 'incomplete' : magicLinkRefusalIn(error)
  const isGoingOn = boot.askedHere && error === undefined

  function use() {
    if (token === undefined) return
    void run(async (signal) => {
      const { access_token } = await verify(createSignInClient(signal), token).catch(forgetRefused)
      setDone(true)
      enter(access_token, takeReturnPath())
    })
  }
  const goOn = useEffectEvent(use)
  useEffect(() => {
    if (!boot.askedHere) return
    // Not at once: in development React unmounts and remounts the page, which would use the link up unseen.
    const timer = setTimeout(goOn)
    return () => clearTimeout(timer)
  }, [])

  if (refusal !== undefined) return <RefusedMagicLink why={refusal} />
  return (
    <Page title={t(words.title)} width="narrow">
      <p>{isGoingOn ? t('goingOn') : t(words.lead)}</p>
      <Alert error={error} />
      <Button variant="primary" isOff={busy || isDone || isGoingOn} onPress={use}>
        {busy || isDone || isGoingOn ? t('busy') : t(words.button)}
      </Button>
    </Page>
  )
}

/**
 * A real navigation where possible: the server puts the CSRF value of the new session into the next document. On plain
 * http it cannot, so our own pages continue in this document.
 */
function enter(accessToken: string, next: string | undefined): void {
  const to = next ?? pages.home
  sessionChannel.announce()
  if (isSecureContext || !isPage(to)) return location.replace(to)
  keepAccessToken(accessToken)
  // The cache may hold data of the user who was signed in before.
  queryClient.clear()
  navigate(to)
}

/** A used, expired or wrong token would only be refused again after a reload. */
function forgetRefused(error: unknown): never {
  const refusal = magicLinkRefusalIn(error)
  if (refusal !== undefined && refusal !== 'blocked' && refusal !== 'unverified') clearHistoryState()
  throw error
}

/** Says why a link was refused, and offers the next step. */
function RefusedMagicLink({ why }: { why: MagicLinkRefusal }) {
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
