import { ApiError, type OnAnswer } from '@berth/api/client.ts'
import { linksLeftOf, type LinksLeft } from '@berth/api/links-left.ts'
import { createApiClient, createSignInClient } from '#/api/api-client.ts'
import type { MagicLinkRequest } from '#/session/magic-link-request.ts'

/**
 * Asks for the mail that lets the owner of an address in, in the one way that is right for everybody: `signUp` would do for
 * newcomers and for people with an account, but to somebody who lost their first mail it sends a login link, which is
 * refused as long as they are not verified (specification, signup rule 2); `logIn` mails newcomers nothing; and two calls
 * would cost two of the three links of an hour. The answer is the same for everybody, so this page need not know who they are.
 * @param isTypedHere whether a person typed the address into this very page: only then may this browser use the link without
 *   another press. What the history entry says may be the work of a container's page, which shares our origin: it could put
 *   its author's address there, and a press on "send it again" would end in its author's account.
 * @param onLimit is told when the address has no link left, before that is thrown
 * @throws {ApiError} 400 not an address · 403 blocked · 429 limit · 500 mail not accepted
 */
export async function requestMagicLink(
  email: string,
  signal: AbortSignal,
  { isTypedHere, onLimit }: { isTypedHere: boolean; onLimit?: (request: MagicLinkRequest) => void },
): Promise<MagicLinkRequest> {
  let links: LinksLeft | undefined
  const onAnswer: OnAnswer = (_, { headers }) => (links = linksLeftOf(headers))
  const api = isTypedHere ? createSignInClient(signal, onAnswer) : createApiClient(signal, undefined, onAnswer)
  const requested = () => ({ email: email.trim(), at: Date.now(), links })
  await api.askForLink({ body: { email } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 429 && links !== undefined) onLimit?.(requested())
    throw error
  })
  return requested()
}
