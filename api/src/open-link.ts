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

/**
 * Why a link of this would lead nowhere: its path is none below the container's address, or its repository has no address that
 * may stand in a link, where a password would be read by all who get it. Undefined when nothing is wrong with its form.
 */
export function openLinkProblem({ path, git = '' }: Pick<OpenLinkParts, 'path' | 'git'>): 'path' | 'git' | undefined {
  const [name = ''] = path.split('?')
  const isWhole = /^[a-z][a-z0-9+.-]*:/i.test(name)
  if (isWhole || /\\|%5c|%2f/i.test(name) || name.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part)))
    return 'path'
  if (git === '') return undefined
  const url = URL.parse(git)
  const isAddress = url !== null && /^https?:$/.test(url.protocol)
  return isAddress && !/[?#@]/.test(git) ? undefined : 'git'
}

/** A name that was copied from an address bar is encoded already. */
function encodedOnce(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment))
  } catch {
    return encodeURIComponent(segment)
  }
}
