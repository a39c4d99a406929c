import { createTranslator } from 'use-intl/core'
import { admin as german } from '../../../web/src/admin/messages/de.ts'
import { admin as english } from '../../../web/src/admin/messages/en.ts'
import { sessions as germanSessions } from '../../../web/src/messages/de/sessions.ts'
import { tokens as germanTokens } from '../../../web/src/messages/de/tokens.ts'
import { de } from '../../../web/src/messages/de.ts'
import { sessions } from '../../../web/src/messages/en/sessions.ts'
import { tokens } from '../../../web/src/messages/en/tokens.ts'
import { en } from '../../../web/src/messages/en.ts'

const inEnglish = { ...en, admin: english, sessions, tokens }

/**
 * What the front end says, out of its own catalogues, so that a journey finds controls by the words that people read:
 * `t('frame.nav.signOut')`.
 */
export const t = createTranslator({ locale: 'en', messages: inEnglish })
/** The same in German. */
export const inGerman = createTranslator({
  locale: 'de',
  messages: { ...de, admin: german, sessions: germanSessions, tokens: germanTokens } as unknown as typeof inEnglish,
})
