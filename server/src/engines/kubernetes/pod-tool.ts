import type { V1Container, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import { containerToolFolder, containerToolName } from '#/engines/container-tool.ts'

/** Name of the container that brings the container tool, and of its volume. */
const name = 'tool'
/** Bytes of the volume: the tool has about 1 MB. */
const sizeLimit = '16Mi'
/** An account that has nothing: the folder of an `emptyDir` is open to all. */
const account = 65_534

/** What a pod has of the container tool. */
export interface PodTool {
  readonly container: V1Container
  readonly volume: V1Volume
  /** Of the app. */
  readonly mount: V1VolumeMount
}

/**
 * The container tool in a pod: a first container of an image that has it in its `PATH`, as the image of Berth does, copies it
 * into a folder of the pod, which the app mounts read-only. A cluster has no volume that every pod could mount. Of the level
 * `restricted` of the Pod Security Standards.
 */
export const toolOfPod = (image: string): PodTool => ({
  container: {
    name,
    image,
    command: [containerToolName, 'install', containerToolFolder],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '1', memory: '64Mi' } },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: account,
      runAsGroup: account,
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name, mountPath: containerToolFolder }],
  },
  volume: { name, emptyDir: { sizeLimit } },
  mount: { name, mountPath: containerToolFolder, readOnly: true },
})
