import type { Endpoint } from '@berth/api/endpoints.ts'
import { values, texts, encoded } from './values.ts'
import { type HostileRequest, pathOf, lineOf, withBody } from './request-lines.ts'
import { credentials, otherHeaders, framings } from './header-inputs.ts'

/** What is sent to one endpoint, made from its row alone. @param token of the caller */
export function hostileRequests(endpoint: Endpoint, token: string | undefined): HostileRequest[] {
  const own = token === undefined ? [] : [`Authorization: Bearer ${token}`]
  return [
    ...bodies(endpoint, own),
    ...queries(endpoint, own),
    ...parameters(endpoint, own),
    ...credentials(endpoint, token ?? 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl'),
    ...otherHeaders(endpoint, own),
    ...methods(endpoint, own),
    ...paths(endpoint, own),
    ...framings(endpoint, own),
  ]
}

function bodies(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  // Who needs no body ignores what is sent: a few will do.
  if (!endpoint.body)
    return Object.entries(texts)
      .slice(0, 8)
      .map(([why, body]) => withBody(endpoint, own, `${why}, where none is needed`, body))
  const wholes = Object.entries(texts).map(([why, body]) => ({ ...withBody(endpoint, own, why, body), isBad: true }))
  const keys = Object.keys((endpoint.body as { properties?: object }).properties ?? {})
  const singles = keys.flatMap((key) => [
    ...Object.entries(values).map(([why, json]) => withBody(endpoint, own, `${why} as ${key}`, `{"${key}":${json}}`)),
    ...Object.entries(values).map(([why, json]) =>
      withBody(endpoint, own, `a list of ${why} as ${key}`, `{"${key}":[${json}]}`),
    ),
    withBody(endpoint, own, `${key} twice`, `{"${key}":1,"${key}":null}`),
    withBody(endpoint, own, `${key} with a prototype`, `{"${key}":{"__proto__":{"length":1,"0":"a@x.org"}}}`),
  ])
  return [...wholes, ...singles]
}

function queries(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const keys = Object.keys((endpoint.query as { properties?: object } | undefined)?.properties ?? {})
  const base = pathOf(endpoint)
  const ask = (why: string, query: string) => ({ why, head: [lineOf(endpoint, `${base}?${query}`), ...own] })
  return [
    ...keys.flatMap((key) => [
      ...Object.entries(encoded).map(([why, value]) => ask(`${why} as ${key}`, `${key}=${value}`)),
      ask(`${key} twice`, `${key}=1&${key}=2`),
      ask(`${key} as a list`, `${key}[]=1&${key}[0]=2`),
      ask(`${key} as an object`, `${key}[a]=1&${key}.b=2`),
      ask(`${key} without a value`, key),
    ]),
    ask('a thousand parameters', Array.from({ length: 1_000 }, (_, each) => `p${each}=1`).join('&')),
    ask('a prototype', '__proto__[isAdmin]=1&constructor.prototype.isAdmin=1&__proto__=1'),
    ask('only separators', '&&&===&;;?&'),
    ask('half an escape', 'a=%'),
    ask('a token', 'token=x&access_token=x&jwt=x'),
  ]
}

function parameters(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  if (!endpoint.params) return []
  return Object.entries(encoded).map(([why, value]) => ({
    why: `${why} in the path`,
    head: [lineOf(endpoint, pathOf(endpoint, value)), ...own],
    // An empty segment is another address.
    isBad: value !== '',
  }))
}

/** Other spellings of the address. */
function paths(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const path = pathOf(endpoint)
  const spellings: Record<string, string> = {
    'two slashes in front': `/${path}`,
    'two slashes within': path.replace(/\/(?=[^/]*$)/, '//'),
    'a slash behind': `${path}/`,
    'a parent folder': `/x/..${path}`,
    'an encoded parent folder': `/x/%2e%2e${path}`,
    'a folder of its own': `/.${path}`,
    'upper case': path.toUpperCase(),
    'encoded slashes': path.replaceAll('/', '%2f').replace('%2f', '/'),
    'an encoded letter': path.replace('a', '%61'),
    'a NUL behind': `${path}%00`,
    'a parameter of the path': `${path};a=b`,
    'a dot behind': `${path}.`,
    'json behind': `${path}.json`,
    backslashes: path.replaceAll('/', '\\'),
    'a fragment': `${path}#x`,
    'letters beyond ASCII': `${path}\xe9`,
    'a tab': `${path}\t`,
    'a whole address': `http://127.0.0.1${path}`,
    'a foreign address': `http://evil.example${path}`,
    'a foreign host behind an at sign': `//x@evil.example${path}`,
    'an asterisk': '*',
    'no slash': path.slice(1),
    'twenty thousand letters': `${path}/${'a'.repeat(20_000)}`,
    'many folders': `${path}${'/a'.repeat(2_000)}`,
  }
  return Object.entries(spellings).map(([why, spelling]) => ({ why, head: [lineOf(endpoint, spelling), ...own] }))
}

function methods(endpoint: Endpoint, own: readonly string[]): HostileRequest[] {
  const all = [
    'GET',
    'POST',
    'DELETE',
    'PUT',
    'PATCH',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'QUERY',
    'get',
    'G\xe9T',
    '',
  ]
  return all
    .filter((method) => method !== endpoint.method)
    .map((method) => ({ why: `method "${method}"`, head: [lineOf(endpoint, pathOf(endpoint), method), ...own] }))
}
