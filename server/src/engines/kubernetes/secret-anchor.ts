import { setTimeout as sleep } from 'node:timers/promises'
import type { ObjectMeta } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { isForbidden, isMissing, statusOf } from './cluster-errors.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { installationLabels } from './object-labels.ts'

/** Who an object belongs to: the cluster removes it when all of these are gone. */
export interface OwnerReference {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod' | 'Secret'
  readonly name: string
  readonly uid: string
}

/** A pod that never was: what it owns is removed by the cluster at once. This account may not delete Secrets. */
export const absentOwner: OwnerReference = {
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'absent',
  uid: '00000000-0000-4000-8000-000000000000',
}

/** How long the removal of the anchor of an earlier process is waited for, and the pause between two looks, in ms. */
const [collectionTime, pause] = [60_000, 250]

/**
 * An empty Secret that owns the environments of pods that are not there yet. Each process makes it anew: the cluster removes the one
 * before, and with it whatever a crash left between an environment and its pod.
 */
export class SecretAnchor {
  #owner: OwnerReference | undefined
  #isMaking = false
  #isRefused = false

  /** The owner of an environment that comes before its pod; undefined where there is none, or not yet: a call makes one, in the background. */
  owner(cluster: ClusterContext): OwnerReference | undefined {
    if (!this.#owner && !this.#isRefused && !this.#isMaking) void this.#makeInBackground(cluster)
    return this.#owner
  }

  /** Something else has removed this one. */
  lost({ uid }: OwnerReference): void {
    if (this.#owner?.uid === uid) this.#owner = undefined
  }

  /**
   * A pod has waited in vain for its environment, which may have gone with an anchor that something else removed: the collector
   * removes what it saw without an owner, although the owner has changed since. The next creation does without.
   */
  forget(): void {
    this.#owner = undefined
  }

  /** The cluster lets an account change owners only with the right to delete (OpenShift): there is no owner any more. */
  refuse(): void {
    this.#isRefused = true
    this.#owner = undefined
  }

  /** What fails is tried again by the next call of `owner`. */
  async #makeInBackground(cluster: ClusterContext): Promise<void> {
    this.#isMaking = true
    try {
      await this.#make(cluster)
    } catch (error) {
      // A quota of Secrets answers 403, too: the next call tries again.
      if (isForbidden(error)) this.refuse()
    } finally {
      this.#isMaking = false
    }
  }

  /** The first creation makes sure that there is one whose removal shows that owners may be changed. */
  async #make(cluster: ClusterContext): Promise<void> {
    const name = `${cluster.installation}-environments`
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, labels: installationLabels(cluster.installation) },
    }
    const what = 'create the owner of environments'
    const call = { what, method: 'POST', path: corePath(cluster, 'secrets'), timeout: callTimeouts.write } as const
    const create = () => cluster.client.ask<{ metadata: ObjectMeta }>({ ...call, body }).catch(unlessItExists)
    await create()
    await giveAway(cluster, body).catch(unlessMissing)
    for (const end = performance.now() + collectionTime; performance.now() < end; await pauseUnreferenced()) {
      const made = await create()
      if (made) return void (this.#owner = { apiVersion: 'v1', kind: 'Secret', name, uid: made.metadata.uid })
    }
  }
}

/** A Secret as it is written. */
export interface SecretManifest {
  readonly metadata: { readonly name: string }
}

/**
 * Changes the owner of a Secret. @param owner left out: one that does not exist, so that the cluster removes the Secret
 * @throws {RuntimeError} `missing` when there is no such Secret
 */
export async function giveAway(
  cluster: ClusterContext,
  secret: SecretManifest,
  owner: OwnerReference = absentOwner,
): Promise<void> {
  const { name } = secret.metadata
  const body = { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } }
  const path = corePath(cluster, 'secrets', name)
  await cluster.client.ask({ what: `own ${name}`, method: 'PUT', path, body, timeout: callTimeouts.write })
}

function unlessItExists(error: unknown): undefined {
  if (statusOf(error) !== 409) throw error
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}

/** Keeps no process from ending. */
const pauseUnreferenced = () => sleep(pause, undefined, { ref: false })
