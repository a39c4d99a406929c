import type { Config } from './config.ts'

/** Addresses that are derived from the settings and, for the default domain, from the bound port. */
export interface Addresses {
  /** Origin of the host of a container, by its prefix; null when containers are below paths. */
  readonly containerOrigin: ((prefix: string) => string) | null
  /** `{scheme}://{spawner_host}`: base URL of containers. */
  readonly spawnerUrl: string
  readonly frontendUrl: string
  /** Domain attribute of the cookie: the host part of the base domain, without its port. */
  readonly cookieDomain: string
}

/**
 * Whether browsers have the companion of a token wherever the token counts, so that one without it counts for nothing: with https,
 * unless people sign in at another host (`FRONTEND_URL`) than that of the containers, where the companion is not sent.
 */
export function requiresCompanion(
  { scheme }: Pick<Config, 'scheme'>,
  { containerOrigin, frontendUrl, spawnerUrl }: Addresses,
): boolean {
  if (scheme !== 'https') return false
  return containerOrigin !== null || new URL(frontendUrl).hostname === new URL(spawnerUrl).hostname
}

/** @param boundPort port of the listener; part of the default base domain */
export function addressesFor(config: Config, boundPort: number): Addresses {
  const baseDomain = config.baseDomain ?? `berth.localhost:${boundPort}`
  const host = config.spawnerSubdomain === '' ? baseDomain : `${config.spawnerSubdomain}.${baseDomain}`
  const spawnerUrl = `${config.scheme}://${host}`
  const containerOrigin =
    config.containerRouting === 'subdomain'
      ? (prefix: string) => `${config.scheme}://${prefix}.${new URL(spawnerUrl).host}`
      : null
  return {
    containerOrigin,
    spawnerUrl,
    frontendUrl: config.frontendUrl ?? spawnerUrl,
    cookieDomain: baseDomain.replace(/:\d+$/, ''),
  }
}
