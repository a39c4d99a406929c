import { randomBytes } from 'node:crypto'
import type { V1Pod } from '@kubernetes/client-node'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import type { TrialProgram } from '#/engines/isolation-trial.ts'
import { podManifest } from './pod-manifest.ts'

/** Which of the two pods: the policy of trials selects the closed one by its label. */
export type TrialKind = 'open' | 'closed'

const [kindLabel, installationLabel] = ['berth.trial', 'berth.trial_of']
const defaultPort = 8080

/** No container of a user: with an empty folder as its home, without labels of the installation, without its environment. */
export function trialPod(installation: string, program: TrialProgram, kind: TrialKind): { port: number; pod: V1Pod } {
  const port = program.port ?? defaultPort
  const name = `${installation}-trial-${kind}-${randomBytes(3).toString('hex')}`
  const pod = podManifest({ installation, helperImage: null }, specOf(program, name, kind), port, {
    pod: name,
    secret: '',
  })
  const containers = (pod.spec?.containers ?? []).map((each) => ({
    ...each,
    env: [{ name: 'PORT', value: String(port) }],
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 2 },
    volumeMounts: [...(each.volumeMounts ?? []), ...homeOf(program).map((mountPath) => ({ name: 'home', mountPath }))],
  }))
  const volumes = [...(pod.spec?.volumes ?? []), ...homeOf(program).map(() => ({ name: 'home', emptyDir: {} }))]
  return {
    port,
    pod: {
      ...pod,
      metadata: { name, labels: { [kindLabel]: kind, [installationLabel]: installation } },
      spec: { ...pod.spec, containers, volumes },
    },
  }
}

const homeOf = ({ home }: TrialProgram): string[] => (home === null ? [] : [home])

/** Takes named fields alone: a template has more, which would mean something else in a specification. */
function specOf(program: TrialProgram, name: string, kind: TrialKind): ContainerSpec {
  const { image, port, command, memory, cpus, shmSize, runtime, readOnly, capAdd, allowSetuid, kubernetes } = program
  return {
    image,
    port,
    command,
    memory,
    cpus,
    shmSize,
    runtime,
    readOnly,
    capAdd,
    allowSetuid,
    name,
    ...(kubernetes && { cluster: kubernetes }),
    owner: { userId: 0, slug: 'trial', type: kind },
    env: {},
    gpus: 0,
    pids: 0,
    devices: [],
    mounts: [],
    home: null,
    fingerprint: '',
  }
}

/** Selector of the pods of trials of an installation. */
export const trialSelector = (installation: string): string => `${installationLabel}=${installation}`
