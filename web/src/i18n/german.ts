import { germanDashboard } from '#/messages/dashboard.ts'
import { germanFrame, germanTakeover } from '#/messages/frame.ts'
import { germanSignIn } from '#/messages/sign-in.ts'
import type { InOtherWords } from '#/messages/in-other-words.ts'
import type { en } from './english.ts'

/** The catalogue in German. */
export const de: InOtherWords<typeof en> = {
  frame: germanFrame,
  signIn: germanSignIn,
  dashboard: germanDashboard,
  takeover: germanTakeover,
}
