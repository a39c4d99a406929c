import type { Language } from '@berth/api/boot.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { languageOf } from '#/messages/language.ts'

/** The language to answer a request in. */
export const requestedLanguage = ({ headers }: { readonly headers: IncomingHttpHeaders }): Language =>
  languageOf(headers.cookie, headers['accept-language'])
