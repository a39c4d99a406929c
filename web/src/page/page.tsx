import { useEffect, useRef, useSyncExternalStore, type MouseEvent, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { BrandingData } from '@berth/api/boot.ts'
import { boot, canAct, isSignedIn } from '#/api/api-client.ts'
import { connectivity } from '#/api/connectivity.ts'
import { currentNotices } from '#/i18n/branding.ts'
import { useLanguage } from '#/i18n/i18n-provider.tsx'
import iconUrl from '#/icon.svg'
import { pages } from '#/paths.ts'
import { focusHeading } from '#/router/router.ts'
import { useServerNow } from '#/time/time.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Footer } from './footer.tsx'
import { TakeoverBanner } from './takeover.tsx'

export interface PageProps {
  title: string
  /** How what the page is about stands, in words or a badge beside the title. */
  state?: ReactNode
  /** Buttons in the line of the title; one of them may be primary. */
  actions?: ReactNode
  /** `narrow`: a single card in the middle, for pages with one task; `board`: for cards; `full`: for tables. */
  width?: 'narrow' | 'wide' | 'board' | 'full'
  /** Navigation between the pages of a section: beside the content, above it where the window is narrow. */
  nav?: ReactNode
  /** A list that may be longer than the screen is about to come: it would move the footer, which waits for it. */
  isLoading?: boolean
  children: ReactNode
}

/** Id of the text that says why nothing can be changed on this page: buttons that are off refer to it. */
export const signInNote = 'sign-in-note'

/** The first page comes with a document, whose focus and reading order the browser handles. */
let isFirst = true

/**
 * The frame of every page: landmarks, title, and the main heading, which takes the focus when the page changes without
 * a load.
 */
export function Page({ title, state, actions, width = 'wide', nav, isLoading = false, children }: PageProps) {
  const t = useTranslations('frame')
  useTitle(t('documentTitle', { page: title }))
  const content = (
    <>
      {state === undefined && actions === undefined ? (
        <h1 tabIndex={-1}>{title}</h1>
      ) : (
        <div className="page-head">
          <h1 tabIndex={-1}>{title}</h1>
          {state}
          {actions !== undefined && <div className="actions">{actions}</div>}
        </div>
      )}
      {/* A page with one task says itself what it needs. */}
      {width !== 'narrow' && <SignInNote />}
      {children}
    </>
  )
  return (
    <div className="page">
      <SkipLink />
      <TakeoverBanner />
      <header className="top">
        <div className="top-inner">
          <Brand />
          {isSignedIn() ? <AccountMenu /> : <p className="tagline">{t('tagline')}</p>}
        </div>
      </header>
      <Notices />
      <ConnectivityNote />
      <main id="content" className={width === 'narrow' ? 'panel' : width}>
        {nav === undefined ? (
          content
        ) : (
          <div className="section-frame">
            {nav}
            <div className="section-page">{content}</div>
          </div>
        )}
      </main>
      {!isLoading && <Footer />}
    </div>
  )
}

/** A title in another language is the same page: the language switch keeps the focus. */
function useTitle(title: string): void {
  const language = useLanguage()
  const shown = useRef(language)
  useEffect(() => {
    document.title = title
    const isTranslation = shown.current !== language
    shown.current = language
    if (!isFirst && !isTranslation) focusHeading({ unlessInMain: true })
    isFirst = false
  }, [title, language])
}

/** First in keyboard order, visible only with the focus (WCAG 2.2, 2.4.1). */
function SkipLink() {
  const t = useTranslations('frame')
  // A followed link would add a history entry without the state of this one.
  function skip(event: MouseEvent) {
    event.preventDefault()
    focusHeading()
  }
  return (
    <a className="skip button" href="#content" onClick={skip}>
      {t('skip')}
    </a>
  )
}

/**
 * Name and logo, a link to the start page. The text names the link, so the logo has no alternative text. A real
 * navigation: the start page may have changed.
 */
export function Brand() {
  const t = useTranslations('frame')
  return (
    <a className="brand" href={pages.home}>
      <img src={boot.branding?.logo ?? iconUrl} alt="" width="28" height="28" />
      {t('product')}
    </a>
  )
}

/** Says that Berth cannot be reached, while that is so. The page's content stays. */
function ConnectivityNote() {
  const t = useTranslations('frame.connectivity')
  const state = useSyncExternalStore(connectivity.subscribe, () => connectivity.state)
  return (
    <div role="status" className="live">
      {state === 'reachable' ? (
        connectivity.wasUnreachable && <span className="visually-hidden">{t('back')}</span>
      ) : (
        <p className="unreachable">{t(state)}</p>
      )}
    </div>
  )
}

/** How often the time of the notices is looked at, in ms. */
const interval = 30_000

/** The operator's notices, below the header of every page. */
function Notices() {
  const { branding } = boot
  return branding === null || branding.notices.length === 0 ? null : <CurrentNotices branding={branding} />
}

function CurrentNotices({ branding }: { branding: BrandingData }) {
  const t = useTranslations('frame')
  const language = useLanguage()
  const notices = currentNotices(branding, useServerNow(interval))
  if (notices.length === 0) return null
  return (
    <section aria-label={t('notices')}>
      {notices.map(({ text }) => (
        <p className="notice" key={text[language]}>
          {text[language]}
        </p>
      ))}
    </section>
  )
}

/**
 * On plain http, after a reload: the document has no CSRF value, so nothing can be changed from it, and buttons do nothing. It leads
 * back to this page.
 */
function SignInNote() {
  const t = useTranslations('frame.signInAgain')
  if (!isSignedIn() || canAct()) return null
  return (
    <div className="note with-action">
      <p id={signInNote}>{t('text')}</p>
      <a className="button primary" href={`${pages.login}?next=${encodeURIComponent(location.pathname)}`}>
        {t('link')}
      </a>
    </div>
  )
}
