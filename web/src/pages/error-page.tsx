import { useEffect } from 'react'
import { useTranslations } from 'use-intl/react'
import { Brand } from '#/components/page/brand.tsx'
import { Button } from '#/components/button.tsx'
import { TakeoverBanner } from '#/components/page/takeover-banner.tsx'
import { focusHeading } from '#/router/focus-heading.ts'
import { ChunkLoadError } from '#/router/load-chunk.ts'

/** Replaces a page that threw. It uses no frame: the error may be in the frame itself. */
export function ErrorPage({ error }: { error: unknown }) {
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
