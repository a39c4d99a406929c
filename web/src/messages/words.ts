import type { en } from '#/i18n/catalogues.ts'

/** The shape of a catalogue: every language has the keys of English, with its own texts. */
export type InOtherWords<T> = { readonly [K in keyof T]: T[K] extends string ? string : InOtherWords<T[K]> }

/** The texts for every user; those for administrators are loaded with their pages. */
export type Words = InOtherWords<typeof en>
