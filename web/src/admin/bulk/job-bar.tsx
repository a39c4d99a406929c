import { useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl/react'

/** Long work as it is shown. */
export interface Job {
  readonly title: string
  readonly seen: number
  readonly total: number
  readonly isCancelled: boolean
  cancel(): void
}

/** How far long work is, at the bottom of the window, and the way to stop it. */
export function JobBar({ job: { title, seen, total, isCancelled, cancel } }: { job: Job }) {
  const t = useTranslations('admin.table')
  const button = useRef<HTMLButtonElement>(null)

  // What started it is gone from the page, and the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) button.current?.focus()
  }, [])

  return (
    <section className="bottom-bar" aria-label={title}>
      <div className="bar-text">
        <p role="status">{isCancelled ? t('cancelling') : title}</p>
        <p className="muted">{t('progress', { seen, total })}</p>
      </div>
      <progress aria-label={title} value={seen} max={Math.max(1, total)} />
      <button type="button" className="button small" ref={button} aria-disabled={isCancelled} onClick={cancel}>
        {t('cancel')}
      </button>
    </section>
  )
}
