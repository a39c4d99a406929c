import { Toast } from '@base-ui/react/toast'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { focusRows } from '#/admin/table/use-row-focus.ts'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'
import { Context, type BulkJob, type ToastMessage } from './bulk-jobs.tsx'
import { createSerialQueue, inBatches, runBulk, superseded, undoLabelFor, type BulkOutcome } from './run-bulk.ts'

/** How long undo is offered, in ms; hovering and focus stop the clock. */
const undoTimeout = 30_000
/** Max names in a message; the others are counted. */
const maxNames = 5

export function BulkJobsProvider({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={undoTimeout}>
      <BulkJobRunner>{children}</BulkJobRunner>
      <Toasts />
    </Toast.Provider>
  )
}

function BulkJobRunner({ children }: { children: ReactNode }) {
  const t = useTranslations('admin.table')
  const sentenceOf = useErrorMessage()
  const toasts = Toast.useToastManager()
  const [job, setJob] = useState<Job>()
  const [enqueue] = useState(createSerialQueue)
  const shown = useRef(new Map<string, readonly string[]>())

  function notify({ title, lines = [], undo, subjects = [] }: ToastMessage, isWorthReading = false) {
    for (const earlier of superseded(shown.current, subjects)) toasts.close(earlier)
    const id: string = toasts.add({
      title,
      data: { lines },
      onRemove: () => shown.current.delete(id),
      // The toast stays when rows were left out.
      ...(isWorthReading ? { timeout: 0 } : {}),
      ...(undo && {
        actionProps: { children: t(undo.label), onClick: () => (toasts.close(id), undo.run()) },
      }),
    })
    shown.current.set(id, subjects)
  }

  async function run({ kind, targets, total, wanted, isUndo = false }: BulkJob) {
    const controller = new AbortController()
    const cancel = () => {
      controller.abort()
      setJob((now) => now && { ...now, isCancelled: true })
    }
    setJob({ title: kind.text.running(wanted), seen: 0, total, isCancelled: false, cancel })
    const outcome = await runBulk(targets, wanted, (ids) => kind.send(ids, wanted), {
      signal: controller.signal,
      onProgress: (seen) => setJob((now) => now && { ...now, seen }),
    })
    // Who is elsewhere by then, as on another page, loses no focus: the heading would take it, and the page jump to it.
    const hasFocus = document.querySelector('.bottom-bar')?.contains(document.activeElement) === true
    setJob(undefined)
    const { changed } = outcome
    const back = changed.map((target) => ({ ...target, isBlocked: wanted }))
    const undoIt = () => start({ kind, targets: inBatches(back), total: back.length, wanted: !wanted, isUndo: true })
    notify(
      {
        title: kind.text.changed(wanted, changed.length),
        lines: [
          ...(wanted || changed.length === 0 ? [] : [kind.text.staysStopped()]),
          ...linesOf(outcome, kind.text.unchanged(wanted, outcome.unchanged)),
        ],
        subjects: changed.map(({ id }) => kind.subjectOf(id)),
        undo: isUndo || changed.length === 0 ? undefined : { label: undoLabelFor(wanted), run: undoIt },
      },
      outcome.leftOut.length > 0,
    )
    if (hasFocus) focusRows()
  }

  function linesOf({ unchanged, leftOut, stopped }: BulkOutcome, unchangedText: string): string[] {
    const named = leftOut.slice(0, maxNames)
    const others = leftOut.length - named.length
    return [
      ...(stopped === 'cancelled' ? [t('cancelled')] : []),
      ...(typeof stopped === 'object' ? [t('broken', { problem: sentenceOf(stopped.error) })] : []),
      ...(unchanged > 0 ? [unchangedText] : []),
      ...named.map(({ name, why }) => (why === 'gone' ? t('gone', { name }) : t('leftOut', { name, why }))),
      ...(others > 0 ? [t('moreLeftOut', { count: others })] : []),
    ]
  }

  const start = (job: BulkJob) => enqueue(() => run(job))

  return (
    <Context value={{ isBusy: job !== undefined, start, notify }}>
      {children}
      {job && <JobBar job={job} />}
    </Context>
  )
}

/** A bulk job as it is shown. */
interface Job {
  readonly title: string
  readonly seen: number
  readonly total: number
  readonly isCancelled: boolean
  cancel(): void
}

/** The progress of a bulk job, at the bottom of the window, with a cancel button. */
function JobBar({ job: { title, seen, total, isCancelled, cancel } }: { job: Job }) {
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

interface ToastData {
  readonly lines: readonly string[]
}

/** The results of actions, in a corner of the window: announced, with undo where possible. F6 moves the focus there. */
function Toasts() {
  const t = useTranslations('admin.table')
  const { toasts } = Toast.useToastManager<ToastData>()
  return (
    <Toast.Portal>
      <Toast.Viewport className="toasts" aria-label={t('messages')}>
        {toasts.map((toast) => (
          <Toast.Root key={toast.id} toast={toast} className="toast" swipeDirection={[]}>
            <Toast.Content className="toast-content">
              <div className={toast.data?.lines.length ? 'toast-text long' : 'toast-text'}>
                <Toast.Title className="toast-title" render={<p />} />
                {toast.data?.lines.map((line) => (
                  <p key={line} className="toast-line">
                    {line}
                  </p>
                ))}
              </div>
              <div className="toast-actions">
                {toast.actionProps && <Toast.Action className="button small" />}
                {/* Base UI hides it from screen readers until the focus is among the messages, because its own stack them. Ours are listed below each other, and it is visible and reachable at any time. */}
                <Toast.Close className="icon-button" aria-label={t('close')} aria-hidden={undefined}>
                  <span aria-hidden>×</span>
                </Toast.Close>
              </div>
            </Toast.Content>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  )
}
