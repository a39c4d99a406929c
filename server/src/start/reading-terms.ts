import { createHash } from 'node:crypto'
import type { Addresses, Config } from '#/config/config.ts'
import type { RestartRequests } from '#/containers/routes/own-containers.ts'
import { frontEndSettings } from './front-end-settings.ts'
import type { ReadingTerms } from '@berth/gateway/port/gateway.ts'

/** Containers that are named to followers at most, whose owners are asked to restart them. */
const maxNamed = 2_000

/**
 * Names what answers to reading requests follow from beside the store and the engine: two nodes with the same name give the same
 * answers. Other settings of a node may differ.
 */
export function readingProgram(config: Config, addresses: Addresses, version: string): string {
  const { spawnerUrl, frontendUrl, cookieDomain } = addresses
  const { templates, scheme, tls, kubernetes, signIn, accessTokenExpires, sessionIdle, sessionMax } = config
  const facts = [
    version,
    [spawnerUrl, frontendUrl, cookieDomain, scheme, tls?.hstsMaxAge ?? null],
    [kubernetes !== null, signIn.isByLink, accessTokenExpires, sessionIdle, sessionMax],
    templates.all(),
    frontEndSettings(config, addresses),
  ]
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
}

/** What the leader tells followers that answer requests. */
export const readingTerms = (program: string, restartRequests: Pick<RestartRequests, 'first'>): ReadingTerms => {
  const asked = restartRequests.first(maxNamed + 1)
  return { program, restartsAsked: asked.length > maxNamed ? null : asked }
}
