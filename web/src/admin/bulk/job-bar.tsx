import { useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl/react'

/** A bulk job as it is shown. */
export interface Job {
  readonly title: string
  readonly seen: number
  readonly total: number
  readonly isCancelled: boolean
  cancel(): void
}

/** The progress of a bulk job, at the bottom of the window, with a cancel button. */
export function JobBar({ job: { title, seen, total, isCancelled, cancel } }: { job: Job }) {
  const t = useTranslations('admin.table')
  const button = useRef<HTMLButtonElement>(null)

  // The element that started the job is gone, and the focus with it.
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
