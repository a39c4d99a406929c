import type { Language } from '@berth/api/boot.ts'
import { languageOf, defaultLanguage } from '../../messages/language.ts'
import { headerValue } from './header-lines.ts'
import type { RequestHead } from './request-head.ts'

/** The language to answer a request in. @param head undefined when it could not be read */
export function requestLanguage(head: RequestHead | undefined): Language {
  return head ? languageOf(head.fields.cookie, headerValue(head.text, 'accept-language')) : defaultLanguage
}
