import { languageOf } from '#/messages/language.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Language } from '@berth/api/boot.ts'
import type { FastifyReply } from 'fastify'
import type { ClientInfo } from '#/accounts/sign-up/client-info.ts'
import { contentLanguage } from '#/messages/language.ts'
import type { LocalizedMessage } from '#/messages/localized-message.ts'
import { localize } from '#/messages/localize.ts'

/** The call of a handler, as far as it matters here. */
interface CallReply {
  readonly client: Pick<ClientInfo, 'language'>
  readonly reply: FastifyReply
}

/** Words for an answer that is no refusal, in the language of whoever asked; the answer says so in its head. */
export function localizedReply({ client: { language }, reply }: CallReply, words: LocalizedMessage): string {
  void reply.headers(contentLanguage(language))
  return localize(language, words)
}

/** The language to answer a request in. */
export const requestedLanguage = ({ headers }: { readonly headers: IncomingHttpHeaders }): Language =>
  languageOf(headers.cookie, headers['accept-language'])
