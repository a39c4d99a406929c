import type { RegistryCredentials } from '#/runtime/runtime.ts'

/** Docker's own registry, by the name that its engine knows it by. */
const dockerHub = 'https://index.docker.io/v1/'

/**
 * Header with credentials for the registry of an image: base64url with padding, as Go's `base64.URLEncoding` reads it.
 * Source: Docker Engine API, "Authentication".
 */
export function registryAuth(image: string, credentials: RegistryCredentials | undefined): Record<string, string> {
  if (!credentials) return {}
  const json = JSON.stringify({ ...credentials, serveraddress: registryOf(image) })
  const encoded = Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  return { 'x-registry-auth': encoded }
}

/** The part before the first slash, if it can be the name of a host. */
function registryOf(image: string): string {
  const [host = '', rest] = image.split('/', 2)
  const isHost = rest !== undefined && (/[.:]/.test(host) || host === 'localhost')
  return isHost && host !== 'docker.io' ? host : dockerHub
}
