import type { Refusal } from '#/refusals/errors.ts'
import type { User } from '#/store/users.ts'
import type { ContainerRef } from '#/store/container-key.ts'
import type { MemberLimits } from './member-limits.ts'
import type { Template } from '../templates/template.ts'

/** Port to the feature that restricts by group who may launch what, and how much of it. */
export interface LaunchRules {
  /** Templates that this user sees, in the configured order; without a restricted one it asks the store nothing. */
  visible(user: Pick<User, 'id' | 'isAdmin'>): Promise<readonly Template[]>
  /** Why this user may not launch this type; asks the store nothing where no group concerns the type. */
  refusalFor(user: Pick<User, 'id' | 'isAdmin'>, template: Template, now: Date): Promise<Refusal | undefined>
  /** Limits of the owner's groups that concern this container; undefined, at once, where no group has any for its type. */
  limitsFor(owned: ContainerRef): Promise<readonly MemberLimits[]> | undefined
  /**
   * Flows of the launch queue of the owner's groups that concern this container, one of which its launch belongs to; undefined, at
   * once, where no group concerns the type.
   */
  flowsOf(owned: ContainerRef): Promise<readonly string[]> | undefined
  /** Whether a group limits the size of homes. */
  readonly hasDiskLimits: boolean
}
