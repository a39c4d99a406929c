import { existsSync } from 'node:fs'
import { homedir } from 'node:os'

/** Default sockets of engines in order of probability: Docker, rootless Docker, Podman, rootless Podman. */
function defaultSockets(): string[] {
  const uid = process.getuid?.() ?? 0
  return [
    '/var/run/docker.sock',
    `/run/user/${uid}/docker.sock`,
    `${homedir()}/.docker/run/docker.sock`,
    '/run/podman/podman.sock',
    `/run/user/${uid}/podman/podman.sock`,
  ]
}

/**
 * The engine's address: what the operator named, else the first usual socket that is there.
 * @param dockerHost `unix:///path` or `tcp://host:port`
 */
export function findEngineAddress(dockerHost: string | undefined): string {
  return dockerHost ?? `unix://${defaultSockets().find((path) => existsSync(path)) ?? '/var/run/docker.sock'}`
}

/** Where connections go, as the HTTP client takes it. */
export interface EngineAddress {
  readonly origin: string
  readonly socketPath?: string
}

/**
 * @param address `unix:///path`, `tcp://host:port` (plain HTTP) or `https://host:port`; the port is 2375 when not named
 * @throws {Error} with a sentence for the operator when it is none of these
 */
export function parseEngineAddress(address: string): EngineAddress {
  const [, scheme, rest] = /^(unix|tcp|http|https):\/\/([^?#]+)$/.exec(address) ?? []
  if (scheme === 'unix' && rest?.startsWith('/')) return { origin: 'http://localhost', socketPath: rest }
  const url = URL.parse(`${scheme === 'https' ? 'https' : 'http'}://${rest}`)
  if (!scheme || scheme === 'unix' || !url || url.pathname !== '/')
    throw new Error(`DOCKER_HOST is ${address}; it has to look like unix:///path or tcp://host:port`)
  return { origin: /:\d+\/*$/.test(address) ? url.origin : `${url.origin}:2375` }
}
