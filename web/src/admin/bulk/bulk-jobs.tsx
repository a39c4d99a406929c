import { createContext, useContext } from 'react'
import type { BatchAnswer, BulkTarget } from './run-bulk.ts'
import type { UndoAction } from './undo.ts'

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
  /** What a row is in `ToastMessage.subjects`. */
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
  notify(message: ToastMessage): void
}

export const Context = createContext<BulkJobs | undefined>(undefined)

/** Long work and what became of it, for pages of administrators. It goes on when they go to another one. */
export function useBulkJobs(): BulkJobs {
  const jobs = useContext(Context)
  if (!jobs) throw new Error('useBulkJobs is only for what is inside BulkJobsProvider')
  return jobs
}
