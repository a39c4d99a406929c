import type {
  V1Container,
  V1Pod,
  V1PodSpec,
  V1ResourceRequirements,
  V1Toleration,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { usualGpuResource, type ContainerSpec, type Toleration } from '#/engines/container-spec.ts'
import { objectName, ownerLabels, podAnnotations } from './object-labels.ts'
import { filesGate } from './files-gate.ts'
import { containerSecurity, podSecurity } from './pod-security.ts'

/** Bytes of `/dev/shm` that a container has without asking. */
const usualShm = 64 * 1024 ** 2

/** Seconds that a program has to end by itself when something else than Berth deletes its pod. */
const terminationGrace = 10

export interface PodNames {
  readonly pod: string
  /** Of the Secret that holds its environment. */
  readonly secret: string
  /** Of the Secret with the account at its registry. */
  readonly pullSecret?: string | undefined
}

/** What the cluster's settings add to a pod. */
export interface PodSettings {
  readonly installation: string
  readonly helperImage: string | null
}

/**
 * The pod of a container: one container, its home, and nothing of the cluster: no service account token, no variables of
 * other services. It never restarts by itself, because that would undo a block; Berth decides.
 */
export function podManifest(
  { installation, helperImage }: PodSettings,
  spec: ContainerSpec,
  port: number,
  names: PodNames,
): V1Pod {
  const { owner, runtime } = spec
  const gate =
    spec.awaitsFiles && spec.home && helperImage !== null ? filesGate(helperImage, spec.home.path) : undefined
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
      containers: [containerManifest(spec, port, names.secret)],
      ...(gate && { initContainers: [gate.container] }),
      volumes: [...volumesOf(spec), ...(gate ? [gate.volume] : [])],
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
    name: 'app',
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
 * A tenth of the CPU and half of the memory are reserved on the node; the rest is shared, as all is on one machine. A limit of
 * processes is the kubelet's (`podPidsLimit`): the API has none.
 */
function resourcesOf({ cpus, memory, gpus, cluster }: ContainerSpec): V1ResourceRequirements {
  const millis = Math.max(10, Math.round(cpus * 1_000))
  return {
    requests: { cpu: `${Math.max(10, Math.round(millis / 10))}m`, memory: String(Math.round(memory / 2)) },
    limits: {
      cpu: `${millis}m`,
      memory: String(memory),
      ...(gpus === 0 ? {} : { [cluster?.gpuResource ?? usualGpuResource]: String(gpus) }),
    },
  }
}

/** Folders that an app may write to although its file system is read-only. */
const scratchFolders = { tmp: '/tmp', run: '/run', 'var-tmp': '/var/tmp' }

function volumesOf({ home, mounts, shmSize, readOnly, memory }: ContainerSpec): V1Volume[] {
  const inMemory = (size: number) => ({ emptyDir: { medium: 'Memory', sizeLimit: String(size) } })
  return [
    ...(home ? [{ name: 'home', persistentVolumeClaim: { claimName: objectName(home.volume) ?? home.volume } }] : []),
    ...mounts.flatMap(({ source, readOnly: isReadOnly }, index) =>
      'volume' in source
        ? [{ name: `mount-${index}`, persistentVolumeClaim: { claimName: source.volume, readOnly: isReadOnly } }]
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
    if (mount) return { name, mountPath: mount.target, readOnly: mount.readOnly }
    return { name, mountPath: scratchFolders[name as keyof typeof scratchFolders] }
  }
