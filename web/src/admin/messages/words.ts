import type { InOtherWords } from '#/messages/words.ts'
import type { admin } from './en.ts'

/** What administrators read, in any language. */
export type AdminWords = InOtherWords<typeof admin>
