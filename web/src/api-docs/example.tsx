import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'

/** An example that can be copied. */
export function Example({ language, text }: { language: 'curl' | 'TypeScript'; text: string }) {
  const t = useTranslations('apiDocs')
  const shown = useRef<HTMLElement>(null)
  const [isCopied, setCopied] = useState(false)
  const name = t('example', { language })
  return (
    <section className="example">
      <div className="example-head">
        <h3>{name}</h3>
        <span role="status" className="hint">
          {isCopied && t('copied')}
        </span>
        <Button variant="small" onPress={() => void copyToClipboard(text, shown.current).then(setCopied)}>
          <span aria-hidden>{t('copy')}</span>
          <span className="visually-hidden">{t('copyThis', { language })}</span>
        </Button>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard (WCAG 2.2, 2.1.1) */}
      <pre role="region" aria-label={name} tabIndex={0}>
        <code ref={shown}>{text}</code>
      </pre>
    </section>
  )
}
