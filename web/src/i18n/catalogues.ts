import { dashboard, germanDashboard } from '#/messages/dashboard.ts'
import { frame, germanFrame, germanTakeover, takeover } from '#/messages/frame.ts'
import { germanSignIn, signIn } from '#/messages/sign-in.ts'
import type { InOtherWords } from '#/messages/in-other-words.ts'

/**
 * The texts for every user, in English. ICU message syntax (unicode-org.github.io/icu/userguide/format_parse/messages).
 */
export const en = { frame, signIn, dashboard, takeover } as const

/** The catalogue in German. */
export const de: InOtherWords<typeof en> = {
  frame: germanFrame,
  signIn: germanSignIn,
  dashboard: germanDashboard,
  takeover: germanTakeover,
}
