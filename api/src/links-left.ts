/** How many more links an address may ask for, as the server reckons it. */
export interface LinksLeft {
  /** 0 and more. */
  readonly left: number
  /** Seconds until it may ask for one more than that; whole, 1 and more. */
  readonly reset: number
}

/**
 * Headers of `logIn`, `signUp`, `askForLink` and `resendVerification`, also when they refuse with 429 for the address's limit. They are
 * made from what was asked for alone, so they are the same for an address that has an account and for one that has none,
 * and may promise more than is left after a restart of the server.
 */
export const linksLeftHeaders = { left: 'links-left', reset: 'links-reset' } as const

/** Parses the headers of an answer; undefined when they are missing, as for a text that cannot be an address. */
export function linksLeftOf(headers: Pick<Headers, 'get'>): LinksLeft | undefined {
  const [left, reset] = [headers.get(linksLeftHeaders.left), headers.get(linksLeftHeaders.reset)]
  if (!isWhole(left) || !isWhole(reset)) return undefined
  return { left: Number(left), reset: Number(reset) }
}

const isWhole = (text: string | null): text is string => text !== null && /^\d{1,9}$/.test(text)
