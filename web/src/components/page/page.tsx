import { useEffect, useRef, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { isSignedIn } from '#/api/api-client.ts'
import { AccountMenu } from '#/components/page/account-menu.tsx'
import { Notices } from '#/branding/notices.tsx'
import { ConnectivityNote } from '#/components/page/connectivity-note.tsx'
import { Brand } from '#/components/page/brand.tsx'
import { Footer } from '#/components/page/footer.tsx'
import { SkipLink } from '#/components/page/skip-link.tsx'
import { TakeoverBanner } from '#/components/page/takeover-banner.tsx'
import { focusHeading } from '#/router/focus-heading.ts'
import { useLanguage } from '#/i18n/language.ts'

interface PageProps {
  title: string
  /** `narrow`: a single card in the middle, for pages with one task; `full`: for tables. */
  width?: 'narrow' | 'wide' | 'full'
  /** Navigation between the pages of a section, below the header. */
  nav?: ReactNode
  /** A list that may be longer than the screen is about to come: it would move the footer, which waits for it. */
  isLoading?: boolean
  children: ReactNode
}

export { focusHeading } from '#/router/focus-heading.ts'

/** The first page comes with a document, whose focus and reading order the browser handles. */
let isFirst = true

/**
 * The frame of every page: landmarks, title, and the main heading, which takes the focus when the page changes without
 * a load.
 */
export function Page({ title, width = 'wide', nav, isLoading = false, children }: PageProps) {
  const t = useTranslations('frame')
  useTitle(t('documentTitle', { page: title }))
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
        {nav}
        <h1 tabIndex={-1}>{title}</h1>
        {children}
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
