import { createContext, useContext, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Toast } from '@base-ui/react/toast'
import { useSentence } from '#/hooks/use-sentence.ts'
import { inBatches, runBulk, type BatchAnswer, type BulkOutcome, type Target } from './bulk.ts'
import { focusRows } from './focus-rows.ts'
import { inTurn } from './in-turn.ts'
import { JobBar, type Job } from './job-bar.tsx'
import { superseded } from './superseded.ts'
import { Toasts } from './toasts.tsx'
import { wordBackFrom, type WayBack } from './way-back.ts'

/** Blocking and unblocking many rows of one list. */
export interface BulkKind {
  /** Asks for one part, and shows what became of it. @param wanted blocked, or not */
  send(ids: number[], wanted: boolean): Promise<BatchAnswer>
  readonly words: {
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

export interface BulkWork {
  readonly kind: BulkKind
  readonly targets: AsyncIterable<readonly Target[]>
  /** Rows, as far as it is known. */
  readonly total: number
  readonly wanted: boolean
  /** It leads back from other work, and has no way back of its own. */
  readonly isWayBack?: boolean
}

/** Something that was done, and what leads back. */
export interface Told {
  readonly title: string
  readonly lines?: readonly string[]
  readonly wayBack?: WayBack | undefined
  /** The rows that it is about, such as `user:7`; earlier messages about them go. */
  readonly subjects?: readonly string[]
}

export interface Work {
  /** Long work is under way. */
  readonly isBusy: boolean
  /** One at a time: work that is started meanwhile, such as a way back, comes after it. */
  start(work: BulkWork): void
  /** Says it in a corner of the page, whatever page that is by then. */
  tell(told: Told): void
}

const Context = createContext<Work | undefined>(undefined)

/** Long work and what became of it, for pages of administrators. It goes on when they go to another one. */
export function useWork(): Work {
  const work = useContext(Context)
  if (!work) throw new Error('useWork is only for what is inside WorkProvider')
  return work
}

/** Milliseconds that the way back is at hand; hovering and focus stop the clock. */
const wayBackFor = 30_000
/** Names in a message; the rest is counted. */
const mostNames = 5

export function WorkProvider({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={wayBackFor}>
      <Working>{children}</Working>
      <Toasts />
    </Toast.Provider>
  )
}

function Working({ children }: { children: ReactNode }) {
  const t = useTranslations('admin.table')
  const sentenceOf = useSentence()
  const toasts = Toast.useToastManager()
  const [job, setJob] = useState<Job>()
  const [begin] = useState(inTurn)
  const shown = useRef(new Map<string, readonly string[]>())

  function tell({ title, lines = [], wayBack, subjects = [] }: Told, isWorthReading = false) {
    for (const earlier of superseded(shown.current, subjects)) toasts.close(earlier)
    const id: string = toasts.add({
      title,
      data: { lines },
      onRemove: () => shown.current.delete(id),
      // Who was left out, and why, is there until it was read.
      ...(isWorthReading ? { timeout: 0 } : {}),
      ...(wayBack && {
        actionProps: { children: t(wayBack.word), onClick: () => (toasts.close(id), wayBack.run()) },
      }),
    })
    shown.current.set(id, subjects)
  }

  async function run({ kind, targets, total, wanted, isWayBack = false }: BulkWork) {
    const controller = new AbortController()
    const cancel = () => {
      controller.abort()
      setJob((now) => now && { ...now, isCancelled: true })
    }
    setJob({ title: kind.words.running(wanted), seen: 0, total, isCancelled: false, cancel })
    const outcome = await runBulk(targets, wanted, (ids) => kind.send(ids, wanted), {
      signal: controller.signal,
      onProgress: (seen) => setJob((now) => now && { ...now, seen }),
    })
    setJob(undefined)
    const { changed } = outcome
    const back = changed.map((target) => ({ ...target, isBlocked: wanted }))
    const goBack = () => start({ kind, targets: inBatches(back), total: back.length, wanted: !wanted, isWayBack: true })
    tell(
      {
        title: kind.words.changed(wanted, changed.length),
        lines: [
          ...(wanted || changed.length === 0 ? [] : [kind.words.staysStopped()]),
          ...linesOf(outcome, kind.words.unchanged(wanted, outcome.unchanged)),
        ],
        subjects: changed.map(({ id }) => kind.subjectOf(id)),
        wayBack: isWayBack || changed.length === 0 ? undefined : { word: wordBackFrom(wanted), run: goBack },
      },
      outcome.leftOut.length > 0,
    )
    focusRows()
  }

  function linesOf({ unchanged, leftOut, stopped }: BulkOutcome, unchangedWords: string): string[] {
    const named = leftOut.slice(0, mostNames)
    const others = leftOut.length - named.length
    return [
      ...(stopped === 'cancelled' ? [t('cancelled')] : []),
      ...(typeof stopped === 'object' ? [t('broken', { problem: sentenceOf(stopped.error) })] : []),
      ...(unchanged > 0 ? [unchangedWords] : []),
      ...named.map(({ name, why }) => (why === 'gone' ? t('gone', { name }) : t('leftOut', { name, why }))),
      ...(others > 0 ? [t('moreLeftOut', { count: others })] : []),
    ]
  }

  const start = (work: BulkWork) => begin(() => run(work))

  return (
    <Context value={{ isBusy: job !== undefined, start, tell }}>
      {children}
      {job && <JobBar job={job} />}
    </Context>
  )
}
