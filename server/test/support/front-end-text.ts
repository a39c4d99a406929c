import { createTranslator } from 'use-intl/core'
import { admin as german } from '../../../web/src/admin/messages/de.ts'
import { admin as english } from '../../../web/src/admin/messages/en.ts'
import { de } from '../../../web/src/messages/de.ts'
import { en } from '../../../web/src/messages/en.ts'

const inEnglish = { ...en, admin: english }

/**
 * What the front end says, out of its own catalogues, so that a journey finds controls by the words that people read:
 * `t('frame.nav.signOut')`.
 */
export const t = createTranslator({ locale: 'en', messages: inEnglish })
/** The same in German. */
export const inGerman = createTranslator({
  locale: 'de',
  messages: { ...de, admin: german } as unknown as typeof inEnglish,
})
