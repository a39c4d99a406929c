import { existsSync } from 'node:fs'
import { homedir } from 'node:os'

/** Where engines usually listen, the most likely first: Docker, rootless Docker, Podman, rootless Podman. */
function usualSockets(): string[] {
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
export function findEngine(dockerHost: string | undefined): string {
  return dockerHost ?? `unix://${usualSockets().find((path) => existsSync(path)) ?? '/var/run/docker.sock'}`
}
