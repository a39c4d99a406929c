/** What links begin with that lead each user to a container of their own: `/open/{type}/{path}`. */
export const openLinkPath = '/open'

/** What such a link opens. */
export interface OpenLinkParts {
  /** Of a container. */
  readonly type: string
  /** Path and query below the container's address, as a person writes or copies it; empty: where Open leads. */
  readonly path: string
  /** Address of a Git repository whose files are put into the home; left out: none. */
  readonly git?: string
  /** Branch, tag or commit. */
  readonly ref?: string
  /** Folder of the home. */
  readonly to?: string
}

/** The link. @param origin of the pages, without a slash at its end */
export function openLink(origin: string, { type, path, git = '', ref = '', to = '' }: OpenLinkParts): string {
  const mark = path.indexOf('?')
  const [name, query] = mark === -1 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)]
  const below = name.replace(/^\/+/, '').split('/').map(encodedOnce).join('/')
  const files = new URLSearchParams(
    git === '' ? [] : Object.entries({ git, ref, to }).filter(([, value]) => value !== ''),
  )
  const whole = [query, files.toString()].filter((each) => each !== '').join('&')
  return `${origin}${openLinkPath}/${encodeURIComponent(type)}/${below}${whole === '' ? '' : `?${whole}`}`
}

/** A name that was copied from an address bar is encoded already. */
function encodedOnce(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment))
  } catch {
    return encodeURIComponent(segment)
  }
}
