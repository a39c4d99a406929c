import type { MouseEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { focusHeading } from '#/router/focus-heading.ts'

/** First in the order of the keyboard, seen only when it has the focus (WCAG 2.2, 2.4.1). */
export function SkipLink() {
  const t = useTranslations('frame')
  // Followed as a link it would make a history entry of its own, without what this one keeps.
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
