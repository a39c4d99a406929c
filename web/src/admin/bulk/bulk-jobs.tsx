import { createContext, useContext } from 'react'
import type { BatchAnswer, BulkTarget, UndoAction } from './run-bulk.ts'

/** How to block and unblock many rows of one list. */
export interface BulkKind {
  /** Sends one batch and shows its result. @param wanted blocked, or not */
  send(ids: number[], wanted: boolean): Promise<BatchAnswer>
  readonly text: {
    running(wanted: boolean): string
    changed(wanted: boolean, count: number): string
    /** How many rows were in that state already. */
    unchanged(wanted: boolean, count: number): string
    /** Says that an unblocked container does not start automatically. */
    staysStopped(): string
  }
  /** The row's key in `ToastMessage.subjects`. */
  subjectOf(id: number): string
}

export interface BulkJob {
  readonly kind: BulkKind
  readonly targets: AsyncIterable<readonly BulkTarget[]>
  /** Number of rows, as far as it is known. */
  readonly total: number
  readonly wanted: boolean
  /** The job undoes another one, and offers no undo itself. */
  readonly isUndo?: boolean
}

/** The result of an action, with undo where possible. */
export interface ToastMessage {
  readonly title: string
  readonly lines?: readonly string[]
  readonly undo?: UndoAction | undefined
  /** The rows that it is about, such as `user:7`; earlier messages about them are dismissed. */
  readonly subjects?: readonly string[]
}

interface BulkJobs {
  /** A bulk job is running. */
  readonly isBusy: boolean
  /** One job at a time: another one, such as an undo, waits for it. */
  start(work: BulkJob): void
  /** Shows a toast, on whatever page the user is by then. */
  notify(message: ToastMessage): void
}

export const Context = createContext<BulkJobs | undefined>(undefined)

/** Bulk jobs and their results, for the administration pages. A job continues on navigation between them. */
export function useBulkJobs(): BulkJobs {
  const jobs = useContext(Context)
  if (!jobs) throw new Error('useBulkJobs is only for what is inside BulkJobsProvider')
  return jobs
}
