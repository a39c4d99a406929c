import type { IncomingMessage } from 'node:http'

/**
 * Whether a person is about to look at the answer: a page for people, a redirect to the login page, not JSON.
 * Browsers leave `Sec-Fetch-Mode` out on plain http outside loopback, so its absence means nothing.
 */
export function isNavigation(request: IncomingMessage): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  if (!request.headers.accept?.toLowerCase().includes('text/html')) return false
  const mode = request.headers['sec-fetch-mode']
  return mode === undefined || mode === 'navigate'
}

/** Whether a browser fetches the script of a service worker. Served at `/ann-dev` its scope would be `/`: everybody's pages. */
export function isWorkerScript(request: IncomingMessage): boolean {
  return request.headers['service-worker'] === 'script' || request.headers['sec-fetch-dest'] === 'serviceworker'
}
