import type { IncomingHttpHeaders } from 'node:http'
import { languageCookie, type Language } from '@berth/api/boot.ts'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { FastifyReply } from 'fastify'
import type { ClientInfo } from '#/accounts/actor.ts'
import { contentLanguage, languageOf } from '@berth/texts/language.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'

/** The part of a handler's call that is used here. */
interface CallReply {
  readonly client: Pick<ClientInfo, 'language'>
  readonly reply: FastifyReply
}

/** Message of a successful response in the caller's language; sets `Content-Language`. */
export function localizedReply({ client: { language }, reply }: CallReply, words: LocalizedMessage): string {
  void reply.headers(contentLanguage(language))
  return localize(language, words)
}

/** Language of the response to a request. */
export const requestedLanguage = ({ headers }: { readonly headers: IncomingHttpHeaders }): Language =>
  languageOf(cookieValues(headers.cookie, languageCookie), headers['accept-language'])
