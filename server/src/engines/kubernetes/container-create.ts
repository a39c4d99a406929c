import { randomBytes } from 'node:crypto'
import type {
  V1Container,
  V1Pod,
  V1PodSecurityContext,
  V1PodSpec,
  V1ResourceRequirements,
  V1SecurityContext,
  V1Toleration,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import {
  usualCapabilities,
  usualGpuResource,
  type ContainerSpec,
  type CreatedContainer,
  type Mount,
  type MountedVolume,
  type Toleration,
} from '#/engines/container-spec.ts'
import { RuntimeError, readWithRetries } from '#/engines/runtime-error.ts'
import type { CreateOptions } from '#/engines/runtime.ts'
import type { Claim, ObjectMeta, Pod } from './api-objects.ts'
import { callTimeouts, corePath, createObject, isForbidden, isMissing } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { deletePod } from './container-lifecycle.ts'
import { ensureHome, wantedHome } from './home-volumes.ts'
import { installationLabels, objectName, ownerLabels, podAnnotations } from './labels.ts'
import { filesGate } from './pod-exec.ts'
import {
  giveAway,
  ownerReferenceTo,
  storeEnvironment,
  withPullSecret,
  type OwnerReference,
  type SecretManifest,
} from './pod-secrets.ts'
import { appContainer } from './pod-state.ts'
import { toolOfPod } from './pod-tool.ts'

/** What an image is taken to expose: no registry is asked. */
const defaultPort = 8080

/**
 * Creates the home where there is none, and the pod with the Secrets that it reads: an account at a registry, and its
 * environment.
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
  for (const { source } of spec.mounts) if ('volume' in source) await requireClaim(cluster, source, what, signal)
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

/**
 * Without this the pod would wait for a claim that nothing makes, and one with the homes of all people would let their pods
 * run on one node alone.
 */
async function requireClaim(
  cluster: ClusterContext,
  { volume, subPath }: MountedVolume,
  what: string,
  signal?: AbortSignal,
): Promise<void> {
  const path = corePath(cluster, 'persistentvolumeclaims', objectName(volume) ?? volume)
  const claim = await cluster.client
    .ask<Claim>({ what, method: 'GET', path, timeout: callTimeouts.read, signal })
    .catch((error: unknown) => {
      if (!isMissing(error)) throw error
      throw new RuntimeError('failed', `${what}: the namespace has no claim ${volume} to mount`, error)
    })
  if (subPath !== undefined && !claim.spec?.accessModes?.includes('ReadWriteMany'))
    throw new RuntimeError(
      'failed',
      `${what}: the claim ${volume} of home_source has no ReadWriteMany, and pods of several people have it on several nodes; ` +
        'make it with a storage class that offers ReadWriteMany',
    )
}

/** A pod that is to be created. */
export interface PodWithEnvironment {
  readonly pod: string
  readonly env: Readonly<Record<string, string>>
  /** Gets the name of the Secret with the environment. */
  readonly create: (secret: string) => Promise<Pod>
}

/**
 * Creates a pod and its environment, a Secret of this run that the pod owns in the end, so that the cluster removes
 * both. The Secret comes first: a kubelet that asks for it too early waits some ten seconds before it asks again. Until
 * there is a pod that can own it the anchor does; without an anchor it comes after its pod.
 * @param signal of the caller; what makes the Secret the pod's is not cut short by it
 * @throws {RuntimeError} · whatever `create` throws; then neither stays, or the next start of Berth has the rest
 *   removed
 */
async function withEnvironment(
  cluster: ClusterContext,
  { pod, env, create }: PodWithEnvironment,
  signal?: AbortSignal,
): Promise<Pod> {
  const secret = environmentSecret(cluster, pod, env)
  const anchor = cluster.anchor.owner(cluster)
  if (!anchor) {
    const made = await create(secret.metadata.name)
    await makeAfter(cluster, secret, made.metadata)
    cluster.environments.keep(made.metadata, secret)
    return made
  }
  const made = await createBefore(cluster, secret, anchor, create, signal)
  await handOver(cluster, secret, anchor, made.metadata)
  cluster.environments.keep(made.metadata, secret)
  return made
}

function environmentSecret(cluster: ClusterContext, pod: string, env: Readonly<Record<string, string>>) {
  const name = `${pod.slice(0, 50)}-${randomBytes(4).toString('hex')}`
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: installationLabels(cluster.installation) },
    immutable: true,
    stringData: env,
  }
}

/** A failure may be one of the answer alone, so the Secret is given away after each. */
async function createBefore(
  cluster: ClusterContext,
  secret: SecretManifest,
  anchor: OwnerReference,
  create: (secret: string) => Promise<Pod>,
  signal?: AbortSignal,
): Promise<Pod> {
  try {
    await storeEnvironment(cluster, secret, anchor, signal)
    return await create(secret.metadata.name)
  } catch (error) {
    void giveAway(cluster, secret).catch(() => undefined)
    throw error
  }
}

/** What the cluster does not take now stays the anchor's: the pod starts all the same. */
async function handOver(
  cluster: ClusterContext,
  secret: SecretManifest,
  anchor: OwnerReference,
  pod: ObjectMeta,
): Promise<void> {
  try {
    await readWithRetries(() => giveAway(cluster, secret, ownerReferenceTo(pod)))
  } catch (error) {
    if (isForbidden(error)) cluster.anchor.refuse()
    if (!isMissing(error)) return
    // It went with the anchor, which another process or an operator removed.
    cluster.anchor.lost(anchor)
    await makeAfter(cluster, secret, pod)
  }
}

/**
 * Not cut short by the caller's signal: without its Secret the pod would never start. After a failure the pod is
 * deleted; if that fails, too, the next launch finds it by its name, and gives it up.
 */
async function makeAfter(cluster: ClusterContext, secret: SecretManifest, pod: ObjectMeta): Promise<void> {
  try {
    await storeEnvironment(cluster, secret, ownerReferenceTo(pod))
  } catch (error) {
    await deletePod(cluster, pod, 1).catch(() => undefined)
    throw error
  }
}

/** Bytes of `/dev/shm` that a container has without asking. */
const usualShm = 64 * 1024 ** 2

/** Seconds that a program has to end by itself when something else than Berth deletes its pod. */
const terminationGrace = 10

export interface PodNames {
  readonly pod: string
  /** Name of the Secret that holds its environment. */
  readonly secret: string
  /** Name of the Secret with the account at its registry. */
  readonly pullSecret?: string | undefined
}

/** What the cluster's settings add to a pod. */
export interface PodSettings {
  readonly installation: string
  readonly helperImage: string | null
  readonly toolImage: string | null
}

/**
 * The pod of a container: one container, its home, and nothing of the cluster: no service account token, no variables
 * of other services. It never restarts by itself, because that would undo a block; Berth decides.
 */
export function podManifest(
  { installation, helperImage, toolImage }: PodSettings,
  spec: ContainerSpec,
  port: number,
  names: PodNames,
): V1Pod {
  const { owner, runtime } = spec
  const gate =
    spec.awaitsFiles && spec.home && helperImage !== null ? filesGate(helperImage, spec.home.path) : undefined
  const tool = toolImage === null ? undefined : toolOfPod(toolImage)
  const first = [tool, gate].filter((each) => each !== undefined)
  const app = containerManifest(spec, port, names.secret)
  const mounts = [...(app.volumeMounts ?? []), ...(tool ? [tool.mount] : [])]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: names.pod,
      labels: { ...ownerLabels(installation, owner) },
      annotations: { ...podAnnotations(spec, port) },
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // The pause container is process 1 and reaps orphans, as the init of Docker does.
      shareProcessNamespace: true,
      terminationGracePeriodSeconds: terminationGrace,
      securityContext: podSecurity,
      ...(runtime === null ? {} : { runtimeClassName: runtime }),
      ...placementOf(spec, names.pullSecret),
      containers: [{ ...app, volumeMounts: mounts }],
      ...(first.length > 0 && { initContainers: first.map(({ container }) => container) }),
      volumes: [...volumesOf(spec), ...first.map(({ volume }) => volume)],
    },
  }
}

/** On which nodes, and who pulls: what the template says, and nothing where it is silent. */
function placementOf({ cluster }: ContainerSpec, pullSecret: string | undefined): Partial<V1PodSpec> {
  const { nodeSelector = {}, tolerations = [], pullSecrets = [] } = cluster ?? {}
  const secrets = [...pullSecrets, ...(pullSecret === undefined ? [] : [pullSecret])]
  return {
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations: tolerations.map(toToleration) }),
    ...(secrets.length === 0 ? {} : { imagePullSecrets: secrets.map((name) => ({ name })) }),
  }
}

const toToleration = ({ key, operator, value, effect, seconds }: Toleration): V1Toleration => ({
  operator,
  ...(key && { key }),
  ...(value && { value }),
  ...(effect && { effect }),
  ...(seconds === null ? {} : { tolerationSeconds: seconds }),
})

function containerManifest(spec: ContainerSpec, port: number, secret: string): V1Container {
  const { image, command, env } = spec
  return {
    name: appContainer,
    image,
    // The cluster replaces `$(NAME)` in arguments; a doubled sign stays one.
    ...(command ? { args: command.map((word) => word.replaceAll('$', () => '$$')) } : {}),
    ports: [{ containerPort: port }],
    env: Object.keys({ ...env, PORT: '' }).map((key) => ({
      name: key,
      valueFrom: { secretKeyRef: { name: secret, key } },
    })),
    resources: resourcesOf(spec),
    securityContext: containerSecurity(spec),
    volumeMounts: volumesOf(spec).map(toMount(spec)),
  }
}

/**
 * A tenth of the CPU and of the writable layer, and half of the memory, are reserved on the node; the rest is shared, as
 * all is on one machine. A limit of processes is the kubelet's (`podPidsLimit`): the API has none.
 */
function resourcesOf({ cpus, memory, layerSize, gpus, cluster }: ContainerSpec): V1ResourceRequirements {
  const millis = Math.max(10, Math.round(cpus * 1_000))
  // The kubelet counts what the program logs, too.
  const layer = (bytes: number) => (layerSize === undefined ? {} : { 'ephemeral-storage': String(bytes) })
  return {
    requests: {
      cpu: `${Math.max(10, Math.round(millis / 10))}m`,
      memory: String(Math.round(memory / 2)),
      ...layer(Math.round((layerSize ?? 0) / 10)),
    },
    limits: {
      cpu: `${millis}m`,
      memory: String(memory),
      ...layer(layerSize ?? 0),
      ...(gpus === 0 ? {} : { [cluster?.gpuResource ?? usualGpuResource]: String(gpus) }),
    },
  }
}

/** Folders that an app may write to although its file system is read-only. */
const scratchFolders = { tmp: '/tmp', run: '/run', 'var-tmp': '/var/tmp' }

const claimOf = (volume: string) => objectName(volume) ?? volume

function volumesOf({ home, mounts, shmSize, readOnly, memory }: ContainerSpec): V1Volume[] {
  const inMemory = (size: number) => ({ emptyDir: { medium: 'Memory', sizeLimit: String(size) } })
  return [
    ...(home ? [{ name: 'home', persistentVolumeClaim: { claimName: claimOf(home.volume) } }] : []),
    ...mounts.flatMap(({ source, readOnly: isReadOnly }, index) =>
      'volume' in source
        ? [
            {
              name: `mount-${index}`,
              persistentVolumeClaim: { claimName: claimOf(source.volume), readOnly: isReadOnly },
            },
          ]
        : [],
    ),
    ...(shmSize === usualShm ? [] : [{ name: 'shm', ...inMemory(shmSize) }]),
    ...(readOnly ? Object.keys(scratchFolders).map((name) => ({ name, ...inMemory(Math.floor(memory / 2)) })) : []),
  ]
}

const toMount =
  ({ home, mounts }: ContainerSpec) =>
  ({ name }: V1Volume): V1VolumeMount => {
    if (name === 'home') return { name, mountPath: home?.path ?? '' }
    if (name === 'shm') return { name, mountPath: '/dev/shm' }
    const mount = name.startsWith('mount-') ? mounts[Number(name.slice('mount-'.length))] : undefined
    if (mount) return { name, mountPath: mount.target, readOnly: mount.readOnly, ...subPathOf(mount) }
    return { name, mountPath: scratchFolders[name as keyof typeof scratchFolders] }
  }

const subPathOf = ({ source }: Mount) =>
  'volume' in source && source.subPath !== undefined ? { subPath: source.subPath } : {}

/**
 * Group that owns a home. A claim belongs to root when it is new, and which user an image has is not known here; a
 * program of any user is a member of this group.
 */
const homeGroup = 1000

/** The level "baseline" of the Pod Security Standards, unless a template adds capabilities. */
const podSecurity: V1PodSecurityContext = {
  seccompProfile: { type: 'RuntimeDefault' },
  fsGroup: homeGroup,
  // A home with many files is not searched at each start.
  fsGroupChangePolicy: 'OnRootMismatch',
}

function accountOf(user: string | undefined): V1SecurityContext {
  if (user === undefined) return {}
  const [runAsUser = 0, runAsGroup] = user.split(':').map(Number)
  return { runAsUser, ...(runAsGroup === undefined ? {} : { runAsGroup }) }
}

const containerSecurity = ({ allowSetuid, readOnly, capAdd, user }: ContainerSpec): V1SecurityContext => ({
  ...accountOf(user),
  privileged: false,
  allowPrivilegeEscalation: allowSetuid,
  readOnlyRootFilesystem: readOnly,
  capabilities: { drop: ['ALL'], add: [...usualCapabilities, ...capAdd] },
})
