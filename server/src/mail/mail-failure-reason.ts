/** Characters of a reason at most; a mail server may say as much as it likes. */
const maxLength = 200

/** Unlike anything that helps: a link, or what a token may be a part of, also where a mail's encoding broke it up. */
const secret = /\S*(?:https?:|www\.|token)\S*|[\w=+/-]{20,}/gi
const address = /[^\s<>()[\]"',;:]+@[^\s<>()[\]"',;:]+/g

/**
 * Why a mail was not accepted, in the words of the mail server or of what kept us from it, for administrators: one line,
 * at most 200 characters, without links, tokens, and addresses of anybody but the addressee. A filter that refuses a mail
 * may well quote it.
 */
export function failureReason(error: unknown, to: string): string {
  const text = error instanceof Error ? error.message : String(error)
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(address, (found) => (found.toLowerCase() === to.toLowerCase() ? found : '…'))
    // Apart from the address itself, which may be as long as a token.
    .split(to)
    .map((part) => part.replace(secret, '…'))
    .join(to)
    .trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line || 'no reason was given'
}
