import { ApiError } from '@berth/api/client.ts'
import { linksLeftOf, type LinksLeft } from '@berth/api/links-left.ts'
import { connectToSignIn } from '#/api.ts'
import type { MailRequest } from '#/mail-request.ts'

/**
 * Asks for the mail that lets the owner of an address in, in the one way that is right for everybody: `signUp` would do for
 * newcomers and for people with an account, but to somebody who lost their first mail it sends a login link, which is
 * refused as long as they are not verified (specification, signup rule 2); `logIn` mails newcomers nothing; and two calls
 * would cost two of the three links of an hour. The answer is the same for everybody, so this page need not know who they are.
 * @param onLimit is told when the address has no link left, before that is thrown
 * @throws {ApiError} 400 not an address · 403 blocked · 429 limit · 500 mail not accepted
 */
export async function askForLink(
  email: string,
  signal: AbortSignal,
  onLimit?: (request: MailRequest) => void,
): Promise<MailRequest> {
  let links: LinksLeft | undefined
  const api = connectToSignIn(signal, (_, { headers }) => (links = linksLeftOf(headers)))
  const requested = () => ({ email: email.trim(), at: Date.now(), links })
  await api.askForLink({ body: { email } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 429 && links !== undefined) onLimit?.(requested())
    throw error
  })
  return requested()
}
