import type { V1PodSecurityContext, V1SecurityContext } from '@kubernetes/client-node'
import { usualCapabilities, type ContainerSpec } from '#/engines/container-spec.ts'

/**
 * Group that owns a home. A claim belongs to root when it is new, and which user an image has is not known here; a program of
 * any user is a member of this group.
 */
const homeGroup = 1000

/** The level "baseline" of the Pod Security Standards, unless a template adds capabilities. */
export const podSecurity: V1PodSecurityContext = {
  seccompProfile: { type: 'RuntimeDefault' },
  fsGroup: homeGroup,
  // A home with many files is not searched at each start.
  fsGroupChangePolicy: 'OnRootMismatch',
}

export const containerSecurity = ({ allowSetuid, readOnly, capAdd }: ContainerSpec): V1SecurityContext => ({
  privileged: false,
  allowPrivilegeEscalation: allowSetuid,
  readOnlyRootFilesystem: readOnly,
  capabilities: { drop: ['ALL'], add: [...usualCapabilities, ...capAdd] },
})
