/**
 * The addresses without a result, in order: what is left to invite after a failure.
 * @param invited results so far, whose addresses the server may write in lower case
 */
export function unansweredOf(
  asked: readonly string[],
  invited: readonly { readonly email: string }[],
): readonly string[] {
  const answered = new Set(invited.map(({ email }) => email.toLowerCase()))
  return asked.filter((email) => !answered.has(email.toLowerCase()))
}
