import { ApiError, type OnAnswer } from '@berth/api/client.ts'
import { linksLeftOf, type LinksLeft } from '@berth/api/links-left.ts'
import { createApiClient, createSignInClient } from '#/api/api-client.ts'
import type { MagicLinkRequest } from '#/session/magic-link-request.ts'

/**
 * Requests the mail that signs the owner of an address in, in the one way that is right for every address: `signUp`
 * would do for new and existing users, but sends a login link to a user who lost their first mail, and that is refused
 * until they are verified (specification, signup rule 2); `logIn` mails new users nothing; two calls would cost two of
 * the three links of an hour. The answer is the same for every address, so this page need not know the account.
 * @param isTypedHere whether the user typed the address into this page: only then may this browser use the link without
 * another press. The state of a history entry may come from a container's page, which shares our origin: it could hold
 * its author's address, and a press on "Send it again" would sign in to its author's account.
 * @param onLimit is called when the address has no link left, before the error is thrown
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
