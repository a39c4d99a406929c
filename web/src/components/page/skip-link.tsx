import type { MouseEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { focusHeading } from '#/router/focus-heading.ts'

/** First in keyboard order, visible only with the focus (WCAG 2.2, 2.4.1). */
export function SkipLink() {
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
