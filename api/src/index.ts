/** What the package `@berth/api` offers to programs outside of this repository. */
export { ApiError, createClient, type Client, type Input, type OnAnswer } from './client.ts'
export type { Answer, Body, EndpointName, JsonName, Params, Query } from './endpoints.ts'
export { scopes, type Scope } from './scopes.ts'

/**
 * A `fetch` that sends a token with each request: an API token, or an access token.
 * @throws {TypeError} without a token, because every request would be refused
 */
export function withToken(token: string | undefined): typeof fetch {
  if (token === undefined || token === '') throw new TypeError('withToken needs a token: make an API token first')
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
}
