import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { ensureContainer, findContainer, type ContainerRef, type UserContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'
import type { ParameterValues } from '#/templates/parameters.ts'
import type { Template } from '#/templates/template.ts'
import type { NamedHome } from '#/containers/home-names.ts'
import type { SpecUser } from './build-container-spec.ts'

/**
 * `launch`: a user asks for it · `replace`: likewise, but a new container · `wake`: a request to its address asks for it ·
 * `restore`: the reconciler asks · `prestart`: ahead of its owner's request.
 */
export type LaunchKind = 'launch' | 'replace' | 'wake' | 'restore' | 'prestart'

/** Parameters of one launch. */
export interface LaunchAttempt {
  readonly user: SpecUser
  readonly template: Template
  readonly now: Date
  readonly kind: LaunchKind
  /** Parameters that the user chooses with this launch, checked; undefined: those that were chosen before count. */
  readonly chosen?: ParameterValues
  /** Its home, once it is known; undefined for a template without one. */
  readonly home?: NamedHome | undefined
  /** When it was requested; by `performance.now()`. */
  readonly begun: number
}

/** A launch that is requested now. */
export function launchAttempt(
  user: SpecUser,
  template: Template,
  now: Date,
  kind: LaunchKind,
  chosen?: ParameterValues,
): LaunchAttempt {
  return { user, template, now, kind, begun: performance.now(), ...(chosen && { chosen }) }
}

/** The container that it is for. */
export const ownedBy = ({ user, template }: LaunchAttempt): ContainerRef => ({ userId: user.id, type: template.type })

/** Whether no user asks for it. */
export const isUnrequested = ({ kind }: Pick<LaunchAttempt, 'kind'>): boolean =>
  kind === 'restore' || kind === 'prestart'

/** Attempts with the same words share one launch. */
export function flightOf({ kind, chosen }: LaunchAttempt): string {
  return chosen ? `${kind} ${JSON.stringify(Object.entries(chosen).sort())}` : kind
}

/**
 * Record of the container to launch, created for a launch that a user asks for; neither a restore nor a wake creates a record that
 * was deleted meanwhile, and a restore starts nothing that was stopped meanwhile. To be read inside the flight: a block may have been
 * stored while this launch waited for another one.
 * @throws {Refusal} 403 when it is blocked; 404 when the account was deleted meanwhile, 500 when the record was
 */
export async function recordFor(db: Db, attempt: LaunchAttempt): Promise<UserContainer> {
  crashPoint('launch.before-record')
  const isExisting = attempt.kind === 'restore' || attempt.kind === 'wake'
  const record = isExisting ? await findRecord(db, attempt) : await ensureRecord(db, attempt)
  crashPoint('launch.after-record')
  if (record.isBlocked) throw refusals.containerBlocked(record.blockedAt)
  return record
}

async function findRecord(db: Db, { user, template, kind }: LaunchAttempt): Promise<UserContainer> {
  const record = await findContainer(db, user.id, template.type)
  if (!record) throw refusals.containerDeleted()
  // Its owner, or a manager, may have stopped it while the restore waited for that stop.
  if (kind === 'restore' && !record.runningSince) throw refusals.launchStopped()
  return record
}

async function ensureRecord(db: Db, { user, template, now }: LaunchAttempt): Promise<UserContainer> {
  try {
    return await ensureContainer(db, user.id, template.type, template.image, now)
  } catch (error) {
    // A record needs its user.
    throw (await findUser(db, user.id)) ? error : refusals.userGone()
  }
}
