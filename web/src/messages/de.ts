import { dashboard } from './de/dashboard.ts'
import { frame } from './de/frame.ts'
import { signIn } from './de/sign-in.ts'
import { takeover } from './de/takeover.ts'
import type { Words } from './words.ts'

/** The catalogue in German. */
export const de: Words = { frame, signIn, dashboard, takeover }
