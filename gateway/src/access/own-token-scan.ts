import { maxTokenLength } from '#/tokens/token-selection.ts'
import { tokenKeyId } from '#/tokens/signature-checks.ts'

/**
 * Scan of header values for tokens of this installation, in linear time, so that no app receives one.
 */

/** Prefix of every signed token: `{"` in base64url. */
export const tokenStart = 'eyJ'

/** Max token-like words inspected in one header; cookies of apps hold a few. */
export const maxTokenWords = 32

/**
 * Parts of a text that have the form of a signed token. The signature is left out: decoders accept it with characters
 * that do not belong there, while what is signed has to stand there as it was written.
 */
export function tokenWords(text: string): string[] {
  let at = text.indexOf(tokenStart)
  if (at === -1) {
    const basic = /^basic +([\w+/=-]+)/i.exec(text)?.[1]
    return basic === undefined ? [] : tokenWords(`: ${Buffer.from(basic, 'base64').toString('latin1')}`)
  }
  const words: string[] = []
  for (let seen = 0; at !== -1; at = text.indexOf(tokenStart, word.lastIndex)) {
    word.lastIndex = at
    const [head = '', payload = ''] = (word.exec(text)?.[0] ?? '').slice(0, maxTokenLength).split('.', 2)
    if (payload !== '') words.push(head)
    // Incomplete tokens count as well, which bounds the work.
    if (++seen > maxTokenWords) return Array<string>(seen).fill(head)
  }
  return words
}

/** Used at a place: from there on, all that can belong to a token. */
export const word = /[\w.-]+/y

export const kidIn = (head: string) => tokenKeyId(`${head}.`)
