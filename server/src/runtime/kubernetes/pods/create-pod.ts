import { randomBytes } from 'node:crypto'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { ContainerSpec, CreatedContainer } from '#/runtime/container-spec.ts'
import type { CreateOptions } from '#/runtime/runtime.ts'
import type { ObjectMeta, Pod } from '../client/api-objects.ts'
import { callTimeouts } from '../client/cluster-client.ts'
import { isMissing } from '../client/cluster-errors.ts'
import { corePath, type ClusterContext } from '../cluster-context.ts'
import { ensureHome, wantedHome } from '../homes/home-claims.ts'
import { installationLabels, objectName } from '../object-labels.ts'
import { deletePod } from './delete-pods.ts'
import { podManifest } from './pod-manifest.ts'
import { withPullSecret } from './pull-secret.ts'

/** What an image is taken to expose: no registry is asked. */
const defaultPort = 8080

/** An account at a registry, then the pod, then the Secret with its environment, which waits for nothing else and goes with the pod. */
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
  const secret = `${name.slice(0, 50)}-${randomBytes(4).toString('hex')}`
  const home = wantedHome(spec)
  if (home) await ensureHome(cluster, home, signal)
  const create = async (pullSecret: string | undefined) => {
    const body = podManifest(cluster, spec, port, { pod: name, secret, pullSecret })
    const call = { what, method: 'POST', path: corePath(cluster, 'pods'), body, timeout: callTimeouts.write } as const
    const made = await cluster.client.ask<Pod>({ ...call, signal })
    cluster.index.noteCreated(made.metadata)
    return made
  }
  const pod = await withPullSecret(cluster, spec.image, credentials, create, signal)
  await createEnvironment(cluster, pod.metadata, secret, { ...spec.env, PORT: String(port) })
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

/**
 * Not cut short by the caller's signal: without its Secret the pod would never start. After a failure the pod is deleted; if
 * that fails, too, the next launch finds it by its name, and gives it up.
 */
async function createEnvironment(
  cluster: ClusterContext,
  { name, uid }: ObjectMeta,
  secret: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secret,
      labels: installationLabels(cluster.installation),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
    },
    immutable: true,
    stringData: env,
  }
  const call = { what: `create the environment of ${name}`, method: 'POST', timeout: callTimeouts.write } as const
  try {
    await cluster.client.ask({ ...call, path: corePath(cluster, 'secrets'), body })
  } catch (error) {
    await deletePod(cluster, { name, uid }, 1).catch(() => undefined)
    throw error
  }
}
