import type { InOtherWords } from '#/messages/words.ts'
import type { admin } from '#/admin/catalogues.ts'

/** The texts for administrators, in any language. */
export type AdminWords = InOtherWords<typeof admin>
