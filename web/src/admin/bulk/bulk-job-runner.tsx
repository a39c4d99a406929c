import { useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Toast } from '@base-ui/react/toast'
import { useErrorMessage } from '#/i18n/use-error-message.ts'
import { inBatches, runBulk, type BulkOutcome } from './run-bulk.ts'
import { focusRows } from '../table/use-row-focus.ts'
import { createSerialQueue } from './serial-queue.ts'
import { JobBar, type Job } from './job-bar.tsx'
import { superseded } from './superseded-toasts.ts'
import { Toasts } from './toasts.tsx'
import { undoLabelFor } from './undo.ts'
import { type BulkJob, type ToastMessage, Context } from './bulk-jobs.tsx'

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
