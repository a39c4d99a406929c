import { useEffect, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { isSignedIn } from '#/api.ts'
import { Account } from '#/components/account.tsx'
import { Brand } from '#/components/brand.tsx'

interface PageProps {
  title: string
  /** `narrow`: a single card in the middle, for pages with one thing to do; `full`: for tables. */
  width?: 'narrow' | 'wide' | 'full'
  /** Under the header, before the content: the pages of a part of the site. */
  nav?: ReactNode
  children: ReactNode
}

/** The first page comes with a document, whose focus and reading order are the browser's business. */
let isFirst = true

/** Puts the focus where a page begins. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus()
}

/** The frame of every page: landmarks, title, and the main heading, which takes the focus when the page changes without a load. */
export function Page({ title, width = 'wide', nav, children }: PageProps) {
  const t = useTranslations('frame')
  const documentTitle = t('documentTitle', { page: title })
  useEffect(() => {
    document.title = documentTitle
    if (!isFirst) focusHeading()
    isFirst = false
  }, [documentTitle])

  return (
    <>
      <header className="top">
        <div className="top-inner">
          <Brand />
          {isSignedIn() ? <Account /> : <p className="tagline">{t('tagline')}</p>}
        </div>
      </header>
      <main className={width === 'narrow' ? 'panel' : width}>
        {nav}
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </>
  )
}
