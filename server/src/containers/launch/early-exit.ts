import { refusals } from '#/refusals/errors.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { ExitedOnStart, explainFailure, failedStage } from './launch-failure.ts'
import type { LaunchProgress } from './launch-progress.ts'

/**
 * Ends the stage `waiting` of a container whose program ended before its app accepted connections, and notifies the
 * owner's open pages of the cause; otherwise they would wait until the timeout. A container that was never probed (no
 * page was open) may have worked meanwhile, so it is not reported as failed.
 * @param known state by the last inspect @throws nothing: without the last output the rest is reported
 */
export async function failOnEarlyExit(
  {
    runtime,
    launchProgress,
  }: { readonly runtime: Pick<Runtime, 'logs' | 'inspectId'>; readonly launchProgress: LaunchProgress },
  known: ContainerState,
): Promise<void> {
  const waiting = launchProgress.of(known)
  if (waiting?.stage !== 'waiting') return
  if (known.isBlocked) return launchProgress.enter(known, failedStage(refusals.containerBlocked(null)))
  if (known.wasStopped) return launchProgress.enter(known, failedStage(refusals.launchStopped()))
  const { seen } = known
  if (!hasExited(known) || !seen || seen === 'gone' || launchProgress.isUnprobed(known))
    return launchProgress.forget(known)
  const failure = await explainFailure(runtime, new ExitedOnStart(seen.name, seen))
  // A launch may have begun while the output was read.
  if (launchProgress.of(known) === waiting) launchProgress.enter(known, failedStage(failure))
}

/** Whether the engine reported that its program has ended. */
export const hasExited = ({ seen }: ContainerState) =>
  seen === 'gone' || seen?.state === 'exited' || seen?.state === 'dead'
