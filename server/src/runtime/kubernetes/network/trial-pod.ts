import { randomBytes } from 'node:crypto'
import type { V1Pod } from '@kubernetes/client-node'
import type { ContainerSpec } from '#/runtime/container-spec.ts'
import type { TrialProgram } from '#/runtime/isolation-trial.ts'
import { podManifest } from '../pods/pod-manifest.ts'

/** Which of the two pods: the policy of trials selects the closed one by its label. */
export type TrialKind = 'open' | 'closed'

const [kindLabel, installationLabel] = ['berth.trial', 'berth.trial_of']
const defaultPort = 8080

/** No container of a user: without home, without labels of the installation, without its environment. */
export function trialPod(installation: string, program: TrialProgram, kind: TrialKind): { port: number; pod: V1Pod } {
  const port = program.port ?? defaultPort
  const name = `${installation}-trial-${kind}-${randomBytes(3).toString('hex')}`
  const none = { env: {}, gpus: 0, pids: 0, devices: [], mounts: [], home: null, fingerprint: '' }
  const spec: ContainerSpec = { ...none, ...program, name, owner: { userId: 0, slug: 'trial', type: kind } }
  const pod = podManifest({ installation, helperImage: null }, spec, port, { pod: name, secret: '' })
  const containers =
    pod.spec?.containers.map((each) => ({
      ...each,
      env: [{ name: 'PORT', value: String(port) }],
      readinessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 2 },
    })) ?? []
  return {
    port,
    pod: {
      ...pod,
      metadata: { name, labels: { [kindLabel]: kind, [installationLabel]: installation } },
      spec: { ...pod.spec, containers },
    },
  }
}

/** Selector of the pods of trials of an installation. */
export const trialSelector = (installation: string): string => `${installationLabel}=${installation}`
