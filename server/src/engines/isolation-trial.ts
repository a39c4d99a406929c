import type { ClusterFields, ContainerSpec } from './container-spec.ts'
import type { HostRulesReport } from './host-capacity.ts'

/** What a trial runs: a program that listens at its port. A template is one; of its other fields nothing is used. */
export interface TrialProgram extends Pick<
  ContainerSpec,
  'image' | 'port' | 'command' | 'memory' | 'cpus' | 'shmSize' | 'runtime' | 'readOnly' | 'capAdd' | 'allowSetuid'
> {
  /** Path of its home, which is an empty folder in a trial; null without one. */
  readonly home: string | null
  /** Where and with what a cluster runs it; null: as it decides. */
  readonly kubernetes: ClusterFields | null
}

/**
 * Tries whether what should keep containers apart does: an engine may accept rules that nothing enforces. Takes a minute or two;
 * what it makes is gone afterwards, or at the next trial.
 * @returns the result, which `host` reports from then on
 * @throws {RuntimeError} when the program did not run, or could not be reached at all: nothing is known then
 */
export type IsolationTrial = (program: TrialProgram, signal: AbortSignal) => Promise<HostRulesReport>
