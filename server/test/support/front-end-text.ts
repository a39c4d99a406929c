import { createTranslator } from 'use-intl/core'
import { admin as english, germanAdmin as german } from '../../../web/src/admin/catalogues.ts'
import { germanSessions, sessions } from '../../../web/src/messages/account.ts'
import { germanTokens, tokens } from '../../../web/src/messages/tokens.ts'
import { de, en } from '../../../web/src/i18n/catalogues.ts'

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
