import type { en } from './en.ts'

/** The shape of a catalogue: every language has the keys of English, and texts of its own. */
export type InOtherWords<T> = { readonly [K in keyof T]: T[K] extends string ? string : InOtherWords<T[K]> }

/** What every person may read; what administrators read comes with their pages. */
export type Words = InOtherWords<typeof en>
