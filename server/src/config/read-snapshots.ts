import type { SettingName } from './setting-descriptions.ts'
import { Problem, size } from './setting-values.ts'

/** Whether snapshots of homes are made. */
export interface SnapshotConfig {
  readonly isOn: boolean
  /** Larger homes are not snapshotted; bytes. */
  readonly maxBytes: number
}

/**
 * `SNAPSHOTS` and `SNAPSHOT_MAX_SIZE`. Neither a cluster nor several nodes can have them.
 * @param problems gets a sentence for each problem found
 */
export function readSnapshots(text: (name: SettingName) => string | null, problems: string[]): SnapshotConfig {
  const value = text('SNAPSHOTS') ?? 'off'
  if (value !== 'on' && value !== 'off') problems.push('SNAPSHOTS: must be on or off')
  if (value === 'on' && text('ENGINE') === 'kubernetes' && text('KUBERNETES_HELPER_IMAGE') === null)
    problems.push(
      'SNAPSHOTS: with ENGINE=kubernetes homes are read by pods of KUBERNETES_HELPER_IMAGE, which is not set; or use snapshots of volumes of the cluster',
    )
  if (value === 'on' && text('NODE_ADDRESS') !== null)
    problems.push('SNAPSHOTS: with NODE_ADDRESS they would be on the disk of one node alone; leave them off')
  const limit = size(text('SNAPSHOT_MAX_SIZE') ?? '4g')
  if (limit instanceof Problem) problems.push(`SNAPSHOT_MAX_SIZE: ${limit.words}`)
  return { isOn: value === 'on', maxBytes: limit instanceof Problem ? 0 : limit }
}
