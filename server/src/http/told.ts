import type { FastifyReply } from 'fastify'
import type { Requester } from '#/accounts/requester.ts'
import { contentLanguage } from '#/language.ts'
import type { Message } from '#/messages/message.ts'
import { say } from '#/messages/say.ts'

/** The call of a handler, as far as it matters here. */
interface Asked {
  readonly requester: Pick<Requester, 'language'>
  readonly reply: FastifyReply
}

/** Words for an answer that is no refusal, in the language of whoever asked; the answer says so in its head. */
export function told({ requester: { language }, reply }: Asked, words: Message): string {
  void reply.headers(contentLanguage(language))
  return say(language, words)
}
