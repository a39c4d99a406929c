import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerSpec, CreatedContainer } from '#/engines/container-spec.ts'
import type { CreateOptions } from '#/engines/runtime.ts'
import type { Pod } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { isMissing } from './cluster-errors.ts'
import { createObject } from './create-object.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { ensureHome, wantedHome } from './home-claims.ts'
import { objectName } from './object-labels.ts'
import { withEnvironment } from './pod-environment.ts'
import { podManifest } from './pod-manifest.ts'
import { withPullSecret } from './pull-secret.ts'

/** What an image is taken to expose: no registry is asked. */
const defaultPort = 8080

/**
 * Creates the home where there is none, and the pod with the Secrets that it reads: an account at a registry, and its environment.
 * @throws {RuntimeError} or the reason of the signal; what was made for the pod goes then
 */
export async function createPod(
  cluster: ClusterContext,
  spec: ContainerSpec,
  { signal, credentials }: CreateOptions = {},
): Promise<CreatedContainer> {
  signal?.throwIfAborted()
  const what = `create ${spec.name}`
  const name = objectName(spec.name)
  if (name === undefined || name.length > 63)
    throw new RuntimeError('failed', `${what}: the cluster accepts no such name`)
  refuseHostParts(spec, what)
  for (const { source } of spec.mounts) if ('volume' in source) await requireClaim(cluster, source.volume, what, signal)
  const port = spec.port ?? defaultPort
  const home = wantedHome(spec)
  if (home) await ensureHome(cluster, home, signal)
  const create = async (secret: string, pullSecret: string | undefined) => {
    const body = podManifest(cluster, spec, port, { pod: name, secret, pullSecret })
    const call = { what, path: corePath(cluster, 'pods'), body, timeout: callTimeouts.write, signal }
    const made = await createObject<Pod>(cluster.client, call)
    cluster.index.noteCreated(made.metadata)
    return made
  }
  const env = { ...spec.env, PORT: String(port) }
  const createWith = (pullSecret: string | undefined) =>
    withEnvironment(cluster, { pod: name, env, create: (secret) => create(secret, pullSecret) }, signal)
  const pod = await withPullSecret(cluster, spec.image, credentials, createWith, signal)
  return { id: pod.metadata.uid, port }
}

/** Templates that ask for these are refused at the start; a template that came later is refused here. */
function refuseHostParts({ mounts, devices }: ContainerSpec, what: string): void {
  if (devices.length > 0 || mounts.some(({ source }) => 'path' in source))
    throw new RuntimeError('failed', `${what}: containers of a cluster have no folders and devices of a host`)
}

/** Without this the pod would wait for a claim that nothing makes. */
async function requireClaim(
  cluster: ClusterContext,
  volume: string,
  what: string,
  signal?: AbortSignal,
): Promise<void> {
  const path = corePath(cluster, 'persistentvolumeclaims', volume)
  try {
    await cluster.client.ask({ what, method: 'GET', path, timeout: callTimeouts.read, signal })
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new RuntimeError('failed', `${what}: the namespace has no claim ${volume} to mount`, error)
  }
}
