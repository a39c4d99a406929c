import { covers } from '#/templates/group-directory.ts'
import type { ContainerShare } from '#/store/container-shares.ts'

/** What the settings allow of sharing. */
export interface SharingSettings {
  /** With people, by their e-mail addresses. */
  readonly withPeople: boolean
  /** With groups that the owner is a member of. */
  readonly withGroups: boolean
  /** Whether containers may be shared at all. */
  readonly isOn: boolean
  /** How long a share may last, in seconds. */
  readonly maxDuration: number
}

/** Whether a share that is there opens its container: a look is one of both ways, and of a type of its group. */
export function isAllowed(
  { askedIn, group, type }: Pick<ContainerShare, 'askedIn' | 'group' | 'type'>,
  settings: SharingSettings,
): boolean {
  if (askedIn !== null) return settings.isOn && covers(askedIn, type)
  return group === null ? settings.withPeople : settings.withGroups
}
