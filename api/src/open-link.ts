/** What links begin with that lead each user to a container of their own: `/open/{type}/{path}`. */
export const openLinkPath = '/open'
/** Max characters of the address of a repository. */
const maxUrl = 500

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
 * Why a link of this leads nowhere, judged as the server judges it: by the path, or by the address of the repository. A whole address
 * is no path below that of a container. Undefined when it leads there; the hosts of repositories are the operator's.
 */
export function openLinkProblem(parts: OpenLinkParts): 'path' | 'git' | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(parts.path) || !parseOpenLink(openLink('', parts))) return 'path'
  return parts.git && !repositoryOf(parts.git) ? 'git' : undefined
}

/**
 * The repository of a link. A query may carry a token, a user a password, which all who get the link would read; an address that is
 * normalized elsewhere is shown as another one than is fetched.
 * @returns undefined when it is none that may stand in a link
 */
export function repositoryOf(git: string): URL | undefined {
  const url = git.length <= maxUrl ? URL.parse(git) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== git || url.search !== '' || url.hash !== '')
    return undefined
  if (url.username !== '' || url.password !== '') return undefined
  return url.pathname === '/' || /["'`<>\\]|[^\x21-\x7e]/.test(git) ? undefined : url
}

/** A name that was copied from an address bar is encoded already. */
function encodedOnce(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment))
  } catch {
    return encodeURIComponent(segment)
  }
}

/** A link as it was sent; what is below the container's address is not decoded. */
export interface OpenLink {
  readonly type: string
  /** Path below the container's address, without its first slash. */
  readonly rest: string
  /** With its question mark; empty when there is none. */
  readonly query: string
}

/**
 * Takes a link apart. Nothing is resolved or decoded but the type, so that what is judged here is what the browser follows.
 * @param url path and query as they were sent
 * @returns undefined for what two programs could read as different paths: dots that climb, backslashes, encoded slashes
 */
export function parseOpenLink(url: string): OpenLink | undefined {
  const [, encodedType = '', rest = '', query = ''] = /^\/open(?:\/([^/?]*)(?:\/([^?]*))?)?(\?.*)?$/s.exec(url) ?? []
  if (!isPlainPath(rest) || /[^\x21-\x7e]|\\/.test(query)) return undefined
  try {
    const type = decodeURIComponent(encodedType)
    return type === '' ? undefined : { type, rest, query: query === '?' ? '' : query }
  } catch {
    return undefined
  }
}

function isPlainPath(path: string): boolean {
  if (/[^\x21-\x7e]|[\\#]|%(?![0-9a-f]{2})|%(?:[01].|2f|5c|7f)/i.test(path)) return false
  return path.split('/').every((segment) => {
    const [name = ''] = segment.replaceAll(/%2e/gi, '.').split(/;|%3b/i, 1)
    return name !== '.' && name !== '..'
  })
}
