import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'

interface CreatedApiTokenProps {
  token: string
  /** Takes it off the page, for good. */
  onDone(): void
}

/** The one moment at which an API token is shown. It is kept in the state of the page alone. */
export function CreatedApiToken({ token, onDone }: CreatedApiTokenProps) {
  const t = useTranslations('tokens.fresh')
  const shown = useRef<HTMLElement>(null)
  const [outcome, setOutcome] = useState<'copied' | 'selected'>()
  return (
    <section className="note created-token" aria-labelledby="created-token">
      <h2 id="created-token" tabIndex={-1} ref={(heading) => heading?.focus()}>
        {t('title')}
      </h2>
      <p>{t('once')}</p>
      <p>
        <code ref={shown} className="path">
          {token}
        </code>
      </p>
      <div className="actions">
        <Button
          variant="primary"
          onPress={() =>
            void copyToClipboard(token, shown.current).then((isCopied) => setOutcome(isCopied ? 'copied' : 'selected'))
          }
        >
          {t('copy')}
        </Button>
        <Button onPress={onDone}>{t('done')}</Button>
        <span role="status" className="hint">
          {outcome && t(outcome)}
        </span>
      </div>
    </section>
  )
}
