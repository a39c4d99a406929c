import { registryOf } from '#/engines/image-registry.ts'
import type { RegistryCredentials } from '#/engines/runtime.ts'

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
