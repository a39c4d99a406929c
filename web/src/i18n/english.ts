import { dashboard } from '#/messages/dashboard.ts'
import { frame, takeover } from '#/messages/frame.ts'
import { signIn } from '#/messages/sign-in.ts'

/**
 * The texts for every user, in English. ICU message syntax (unicode-org.github.io/icu/userguide/format_parse/messages).
 * A file of its own, as each language: a page loads the one that it is in.
 */
export const en = { frame, signIn, dashboard, takeover } as const
