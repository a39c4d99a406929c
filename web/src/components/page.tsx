import { useEffect, type ReactNode } from 'react'
import { Brand } from '#/components/brand.tsx'

interface PageProps {
  title: string
  /** Beside the name in the header: who is signed in. */
  aside?: ReactNode
  /** A single card in the middle, for pages with one thing to do. */
  narrow?: boolean
  children: ReactNode
}

/** What a stranger learns before signing up. */
const tagline = 'Containers of your own, ready in your browser'

/** The first page comes with a document, whose focus and reading order are the browser's business. */
let isFirst = true

/** Puts the focus where a page begins. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus()
}

/** The frame of every page: landmarks, title, and the main heading, which takes the focus when the page changes without a load. */
export function Page({ title, aside, narrow = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Berth`
    if (!isFirst) focusHeading()
    isFirst = false
  }, [title])

  return (
    <>
      <header className="top">
        <div className="top-inner">
          <Brand />
          {aside ?? <p className="tagline">{tagline}</p>}
        </div>
      </header>
      <main className={narrow ? 'panel' : 'wide'}>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </>
  )
}
