import type { Outcome } from './attack-attempt.ts'
import type { AttackInstallation } from './attack-installation.ts'

const sockets = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/podman/podman.sock',
  '/host/var/run/docker.sock',
]

/** Sockets of the engine inside the container: each is root on the host. */
export async function useEngine(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const targets = sockets.map((socket) => ({ socket }))
  const answers = await installation.order<(string | null)[]>({ verb: 'connect', targets }, signal)
  const reached = sockets.filter((_, at) => answers[at] !== null)
  const what = `It reached the engine at ${reached.join(', ')}: it is root on this host.`
  const fix =
    'no part of Berth mounts it: look for a plugin or a default of the engine that does; docker inspect the container'
  return { got: reached.length === 0 ? [] : [{ level: 'critical', what, fix }], tried: `${sockets.length} sockets` }
}
