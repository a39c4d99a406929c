import { dashboard } from './en/dashboard.ts'
import { frame } from './en/frame.ts'
import { signIn } from './en/sign-in.ts'
import { takeover } from './en/takeover.ts'

/**
 * The texts for every user, in English. ICU message syntax (unicode-org.github.io/icu/userguide/format_parse/messages).
 */
export const en = { frame, signIn, dashboard, takeover } as const
