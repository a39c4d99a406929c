import { refusals } from '#/errors.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { ContainerState } from '../../state/container-state.ts'
import { ExitedOnStart, explainFailure, failedStage } from '../launch-failure.ts'
import type { LaunchProgress } from './launch-progress.ts'

/**
 * Ends the stage `waiting` of a container whose program has ended before its app accepted connections, and tells the
 * owner's open pages why. An app that ends a second after its start would otherwise be waited for until the limit.
 * What nobody has probed (no page was open) may have worked meanwhile, so of that nothing is claimed.
 * @param known as the engine was last asked about it @throws nothing: without the last lines the rest is told
 */
export async function failOnEarlyExit(
  { runtime, launchProgress }: { readonly runtime: Pick<Runtime, 'logs'>; readonly launchProgress: LaunchProgress },
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
  // A launch may have begun while the lines were read.
  if (launchProgress.of(known) === waiting) launchProgress.enter(known, failedStage(failure))
}

/** Whether the engine has said that its program is over. */
export const hasExited = ({ seen }: ContainerState) =>
  seen === 'gone' || seen?.state === 'exited' || seen?.state === 'dead'
