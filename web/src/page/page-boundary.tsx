import { Component, useEffect, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { ChunkLoadError } from '#/router/lazy-part.ts'
import { focusHeading } from '#/router/router.ts'
import { Brand } from './page.tsx'
import { TakeoverBanner } from './takeover.tsx'

interface State {
  /** Wrapped, because any value can be thrown. */
  readonly failure: { readonly error: unknown } | undefined
}

/** An error boundary for one page. Its key is the page's path, so that another page starts without the error. */
export class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { failure: undefined }

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } }
  }

  override render(): ReactNode {
    const { failure } = this.state
    return failure ? <ErrorPage error={failure.error} /> : this.props.children
  }
}

/** Replaces a page that threw. It uses no frame: the error may be in the frame itself. */
function ErrorPage({ error }: { error: unknown }) {
  const t = useTranslations(error instanceof ChunkLoadError ? 'frame.outdated' : 'frame.broken')
  useEffect(() => focusHeading(), [])
  return (
    <div className="page">
      <TakeoverBanner />
      <header className="top">
        <div className="top-inner">
          <Brand />
        </div>
      </header>
      <main className="panel">
        <h1 tabIndex={-1}>{t('title')}</h1>
        <p>{t('what')}</p>
        <p>{t('todo')}</p>
        <Button variant="primary" onPress={() => location.reload()}>
          {t('button')}
        </Button>
      </main>
    </div>
  )
}
