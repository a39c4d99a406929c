import { refusals } from '#/errors.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { KnownContainer } from './known-container.ts'
import { EndedAtOnce, explainFailure, failedStage } from './launch-failure.ts'
import type { Stages } from './stages.ts'

/**
 * Ends the stage `waiting` of a container whose program has ended before its app accepted connections, and tells the
 * owner's open pages why. An app that ends a second after its start would otherwise be waited for until the limit.
 * What nobody has probed (no page was open) may have worked meanwhile, so of that nothing is claimed.
 * @param known as the engine was last asked about it @throws nothing: without the last lines the rest is told
 */
export async function endWait(
  { runtime, stages }: { readonly runtime: Pick<Runtime, 'logs'>; readonly stages: Stages },
  known: KnownContainer,
): Promise<void> {
  const waiting = stages.of(known)
  if (waiting?.stage !== 'waiting') return
  if (known.isBlocked) return stages.enter(known, failedStage(refusals.containerBlocked(null)))
  if (known.wasStopped) return stages.enter(known, failedStage(refusals.launchStopped()))
  const { seen } = known
  if (!hasEnded(known) || !seen || seen === 'gone' || stages.isUnprobed(known)) return stages.forget(known)
  const failure = await explainFailure(runtime, new EndedAtOnce(seen.name, seen))
  // A launch may have begun while the lines were read.
  if (stages.of(known) === waiting) stages.enter(known, failedStage(failure))
}

/** Whether the engine has said that its program is over. */
export const hasEnded = ({ seen }: KnownContainer) =>
  seen === 'gone' || seen?.state === 'exited' || seen?.state === 'dead'
