import { createTranslator } from 'use-intl/core'
import { admin as english, germanAdmin as german } from '../../../web/src/admin/catalogues.ts'
import { germanSessions, sessions } from '../../../web/src/messages/account.ts'
import { germanLogs, logs } from '../../../web/src/messages/card-dialogs.ts'
import { checkMail, germanCheckMail } from '../../../web/src/messages/check-mail.ts'
import { germanTokens, tokens } from '../../../web/src/messages/tokens.ts'
import { de, en } from '../../../web/src/i18n/catalogues.ts'

const inEnglish = { ...en, admin: english, checkMail, logs, sessions, tokens }

/**
 * What the front end says, out of its own catalogues, so that a journey finds controls by the words that people read:
 * `t('frame.nav.signOut')`.
 */
export const t = createTranslator({ locale: 'en', messages: inEnglish })
/** The same in German. */
export const inGerman = createTranslator({
  locale: 'de',
  messages: {
    ...de,
    admin: german,
    checkMail: germanCheckMail,
    logs: germanLogs,
    sessions: germanSessions,
    tokens: germanTokens,
  } as unknown as typeof inEnglish,
})
