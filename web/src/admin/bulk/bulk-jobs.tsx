import { createContext, useContext, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Toast } from '@base-ui/react/toast'
import { useErrorMessage } from '#/i18n/use-error-message.ts'
import { inBatches, runBulk, type BatchAnswer, type BulkOutcome, type BulkTarget } from './run-bulk.ts'
import { focusRows } from '../table/focus-rows.ts'
import { createSerialQueue } from './serial-queue.ts'
import { JobBar, type Job } from './job-bar.tsx'
import { superseded } from './superseded-toasts.ts'
import { Toasts } from './toasts.tsx'
import { undoLabelFor, type UndoAction } from './undo.ts'

/** Blocking and unblocking many rows of one list. */
export interface BulkKind {
  /** Asks for one part, and shows what became of it. @param wanted blocked, or not */
  send(ids: number[], wanted: boolean): Promise<BatchAnswer>
  readonly text: {
    running(wanted: boolean): string
    changed(wanted: boolean, count: number): string
    /** How many were so already. */
    unchanged(wanted: boolean, count: number): string
    /** That what was unblocked does not start by itself. */
    staysStopped(): string
  }
  /** What a row is in `Told.subjects`. */
  subjectOf(id: number): string
}

export interface BulkJob {
  readonly kind: BulkKind
  readonly targets: AsyncIterable<readonly BulkTarget[]>
  /** Rows, as far as it is known. */
  readonly total: number
  readonly wanted: boolean
  /** It leads back from other work, and has no way back of its own. */
  readonly isUndo?: boolean
}

/** Something that was done, and what leads back. */
export interface ToastMessage {
  readonly title: string
  readonly lines?: readonly string[]
  readonly undo?: UndoAction | undefined
  /** The rows that it is about, such as `user:7`; earlier messages about them go. */
  readonly subjects?: readonly string[]
}

export interface BulkJobs {
  /** Long work is under way. */
  readonly isBusy: boolean
  /** One at a time: work that is started meanwhile, such as a way back, comes after it. */
  start(work: BulkJob): void
  /** Says it in a corner of the page, whatever page that is by then. */
  notify(told: ToastMessage): void
}

const Context = createContext<BulkJobs | undefined>(undefined)

/** Long work and what became of it, for pages of administrators. It goes on when they go to another one. */
export function useBulkJobs(): BulkJobs {
  const jobs = useContext(Context)
  if (!jobs) throw new Error('useWork is only for what is inside WorkProvider')
  return jobs
}

/** Milliseconds that the way back is at hand; hovering and focus stop the clock. */
const undoTimeout = 30_000
/** Names in a message; the rest is counted. */
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
      // Who was left out, and why, is there until it was read.
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
    focusRows()
  }

  function linesOf({ unchanged, leftOut, stopped }: BulkOutcome, unchangedWords: string): string[] {
    const named = leftOut.slice(0, maxNames)
    const others = leftOut.length - named.length
    return [
      ...(stopped === 'cancelled' ? [t('cancelled')] : []),
      ...(typeof stopped === 'object' ? [t('broken', { problem: sentenceOf(stopped.error) })] : []),
      ...(unchanged > 0 ? [unchangedWords] : []),
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
