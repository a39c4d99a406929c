/** Max characters of a reason; a mail server may send a text of any length. */
const maxLength = 200

/** Matches links and parts of tokens, also where a mail's encoding broke them up. */
const secret = /\S*(?:https?:|www\.|token)\S*|[\w=+/-]{20,}/gi
const address = /[^\s<>()[\]"',;:]+@[^\s<>()[\]"',;:]+/g

/**
 * Why a mail was not accepted, for administrators: the text of the mail server or of the connection's error, in one
 * line, at most 200 characters, without links, tokens, and addresses other than the addressee's. A filter that refuses
 * a mail may quote it.
 */
export function failureReason(error: unknown, to: string): string {
  const text = error instanceof Error ? error.message : String(error)
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(address, (found) => (found.toLowerCase() === to.toLowerCase() ? found : '…'))
    // Split off first: the address itself may be as long as a token.
    .split(to)
    .map((part) => part.replace(secret, '…'))
    .join(to)
    .trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line || 'no reason was given'
}
