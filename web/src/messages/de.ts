import { dashboard } from './de/dashboard.ts'
import { frame } from './de/frame.ts'
import { sessions } from './de/sessions.ts'
import { signIn } from './de/sign-in.ts'
import { takeover } from './de/takeover.ts'
import { tokens } from './de/tokens.ts'
import type { Words } from './words.ts'

/** The catalogue in German. */
export const de: Words = { frame, signIn, dashboard, sessions, takeover, tokens }
