import { createTranslator } from 'use-intl/core'
import { admin } from '../../../web/src/admin/catalogues.ts'
import * as everyPage from '../../../web/src/i18n/english.ts'
import { inLanguage } from '../../../web/src/i18n/texts.ts'
import { sessions } from '../../../web/src/messages/account.ts'
import { logs } from '../../../web/src/messages/card-dialogs.ts'
import { checkMail } from '../../../web/src/messages/check-mail.ts'
import { tokens } from '../../../web/src/messages/tokens.ts'

const all = { ...everyPage, admin, checkMail, logs, sessions, tokens }

/**
 * What the front end says, out of its own catalogues, so that a journey finds controls by the words that people read:
 * `t('frame.nav.signOut')`.
 */
export const t = createTranslator({ locale: 'en', messages: inLanguage(all, 'en') })
/** The same in German. */
export const inGerman = createTranslator({ locale: 'de', messages: inLanguage(all, 'de') })
