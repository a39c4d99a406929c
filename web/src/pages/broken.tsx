import { useEffect } from 'react'
import { useTranslations } from 'use-intl/react'
import { Brand } from '#/components/brand.tsx'
import { Button } from '#/components/button.tsx'
import { TakeoverBanner } from '#/components/takeover-banner.tsx'
import { focusHeading } from '#/focus.ts'
import { PartMissing } from '#/load-part.ts'

/** In place of a page that threw. Stands alone: what failed may be the frame of all others. */
export function Broken({ error }: { error: unknown }) {
  const t = useTranslations(error instanceof PartMissing ? 'frame.outdated' : 'frame.broken')
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
        <Button look="primary" onPress={() => location.reload()}>
          {t('button')}
        </Button>
      </main>
    </div>
  )
}
