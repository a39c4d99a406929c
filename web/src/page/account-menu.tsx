import { useEffect, useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, createApiClient } from '#/api/api-client.ts'
import { isSignedOut } from '#/api/errors.ts'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { useTask } from '#/components/use-task.ts'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import { endSessionAndRedirect } from '#/session/login-redirect.ts'
import { useMe } from '#/session/use-me.ts'

/** The signed-in user's address; a press opens the menu of pages, with sign-out. */
export function AccountMenu() {
  const t = useTranslations('frame.nav')
  const own = useTranslations('dashboard')
  const me = useMe()
  // From the boot data at first: a button that becomes wider later moves.
  const email = me?.email ?? boot.email
  const { path } = useLocation()
  const { isOpen, setOpen, root } = useDisclosure()
  const panel = useId()
  return (
    <div className="account" ref={root}>
      <button
        type="button"
        className="button small account-button"
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={() => setOpen(!isOpen)}
      >
        {/* The label is shown while the address is unknown. */}
        <span className={email ? 'visually-hidden' : undefined}>{t('account')}</span>
        {email && <span className="account-address">{email}</span>}
      </button>
      <div id={panel} className="account-panel" hidden={!isOpen}>
        {email && <p className="hint address">{email}</p>}
        <nav aria-label={t('label')}>
          <ul>
            <Item to={pages.home} here={path} text={t('containers')} />
            {boot.hasGroups && <Item to={pages.groups} here={path} text={own('groups.all')} />}
            {boot.sharing !== null && <Item to={pages.sharing} here={path} text={own('sharing.all')} />}
            {boot.hasSnapshots && <Item to={pages.snapshots} here={path} text={own('snapshots')} />}
            <Item to={pages.sessions} here={path} text={t('sessions')} />
            <Item to={pages.tokens} here={path} text={t('tokens')} />
            {boot.hasSsh && <Item to={pages.sshKeys} here={path} text={t('sshKeys')} />}
            <Item to={pages.data} here={path} text={t('data')} />
            {me?.is_admin && <Item to={pages.admin} here={path} text={t('admin')} />}
          </ul>
        </nav>
        <SignOut />
      </div>
    </div>
  )
}

function Item({ to, here, text }: { to: string; here: string; text: string }) {
  return (
    <li>
      <Link to={to} isCurrent={to === here}>
        {text}
      </Link>
    </li>
  )
}

/** A disclosure below a button: Escape, a press outside, and a focus outside close it. */
function useDisclosure() {
  const [isOpen, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (!isOpen) return
    const isOutside = (target: EventTarget | null) => !root.current?.contains(target as Node | null)
    const onPress = ({ target }: Event) => isOutside(target) && setOpen(false)
    // A press on plain text leaves no element focused: that is no reason to close.
    const onFocusOut = ({ relatedTarget }: FocusEvent) =>
      relatedTarget !== null && isOutside(relatedTarget) && setOpen(false)
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return
      setOpen(false)
      root.current?.querySelector('button')?.focus()
    }
    const closing = new AbortController()
    document.addEventListener('pointerdown', onPress, closing)
    document.addEventListener('focusout', onFocusOut, closing)
    document.addEventListener('keydown', onKey, closing)
    return () => closing.abort()
  }, [isOpen])

  return { isOpen, setOpen, root }
}

/** Signs out. Says that the user is still signed in when it fails: they may be about to leave a shared computer. */
function SignOut() {
  const t = useTranslations('frame.nav')
  const { busy, error, run } = useTask()
  const sentenceOf = useErrorMessage()

  function signOut() {
    void run((signal) => {
      let atProvider: string | null = null
      const end = () =>
        createApiClient(signal)
          .logOut()
          // The provider that the session began at would otherwise sign the next user in again without asking.
          .then(({ logout_url }) => (atProvider = logout_url))
          .catch((reason: unknown) => {
            // Signed out already, perhaps in another tab: the goal is reached.
            if (!isSignedOut(reason)) throw reason
            return null
          })
      // The login page gives no reason for a sign-in that the user has ended.
      return endSessionAndRedirect(end, () => atProvider ?? pages.login)
    })
  }

  return (
    <>
      <Button variant="small" isOff={busy} onPress={signOut}>
        {busy ? t('signingOut') : t('signOut')}
      </Button>
      <div role="alert" className="live">
        {error !== undefined && (
          <p className="alert">
            {t('stillSignedIn')} {sentenceOf(error)}
          </p>
        )}
      </div>
    </>
  )
}
