/** Max length of a path segment that is written, in characters: a UUID. Tokens of Berth and of common applications are longer. */
const maxSegment = 36
/** Max length of a target that is written, in characters. */
const maxTarget = 512

const redacted = '[redacted]'

/**
 * The target of a request as it may be written to a log. Links that sign people in, codes of providers and tokens of
 * applications are in queries, so no query is written; in a path, no segment that is long enough for a token.
 * @param prefix of the container, which is known and may be long
 */
export function redactTarget(target: string, prefix: string | undefined): string {
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  // Nearly all paths: nothing is made anew.
  const isShort = path.length <= maxSegment
  const safe = isShort
    ? path
    : path
        .split('/')
        .map((segment) => safeSegment(segment, prefix))
        .join('/')
  const cut = safe.length > maxTarget ? `${safe.slice(0, maxTarget)}...` : safe
  return query === -1 ? cut : `${cut}?${redacted}`
}

/** Some programs read `;` and `,` as the beginning of parameters, and an encoded slash as a slash: all of it is one segment. */
const safeSegment = (segment: string, prefix: string | undefined) =>
  segment.length > maxSegment && segment !== prefix ? redacted : segment
