import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { containerKey } from '#/store/container-key.ts'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { EngineListing } from './engine-list.ts'
import type { Desired } from './plan.ts'

/** Inspects in parallel, and in one run; the others follow in the next run. */
const [maxParallel, maxPerRun] = [8, 200]
/** Max running containers that are inspected for their start time; some may have been started since. */
const maxWitnesses = 20
/** How long the runs wait for an answer about these, after a loss of the engine, in ms. */
const witnessTimeout = 60_000

export interface ObservationParts {
  readonly runtime: Pick<Runtime, 'inspectId'>
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Completes a list of running containers: containers that should run and are not listed are inspected one by one. A
 * container about which the engine does not answer is left out until the next run. A full list is returned as it is.
 */
export async function completeObservation(
  parts: ObservationParts,
  { containers, isFull }: EngineListing,
  desired: readonly Desired[],
): Promise<{ readonly desired: readonly Desired[]; readonly observed: readonly RuntimeContainer[] }> {
  if (isFull) return { desired, observed: containers }
  const listed = new Set(containers.flatMap(({ owner }) => (owner ? [containerKey(owner)] : [])))
  const known = desired.filter((each) => listed.has(containerKey(each)))
  const others = desired.filter((each) => !listed.has(containerKey(each)))
  const observed = [...containers]
  await pLimit(maxParallel).map(others.slice(0, maxPerRun), async (each) => {
    const seen = await inspect(parts, each)
    if (seen === undefined) return
    known.push(each)
    if (seen !== 'gone') observed.push(seen)
  })
  return { desired: known, observed }
}

/** @returns undefined when the engine does not answer */
async function inspect(
  { runtime, log }: ObservationParts,
  { containerId }: Desired,
): Promise<RuntimeContainer | 'gone' | undefined> {
  if (containerId === null) return 'gone'
  const found = runtime.inspectId(containerId).then((container) => container ?? 'gone')
  return tryOrLog(log, 'inspecting a container that should run', () => found)
}

/**
 * Whether any container has run since before this time, which means that the engine did not restart, or keeps programs over
 * a restart. @throws {RuntimeError} when the engine does not answer about them, until a minute after that time
 */
export async function isAnyRunningSince(
  runtime: Pick<Runtime, 'inspectId'>,
  observed: readonly RuntimeContainer[],
  time: Date,
): Promise<boolean> {
  const running = observed.filter(({ state }) => state === 'running').slice(0, maxWitnesses)
  const seen = await Promise.allSettled(running.map(({ id }) => runtime.inspectId(id)))
  const [failure] = seen.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const answers = seen.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  // The engine may be about to go away again. Containers about which it never answers, though it lists them, must not block the
  // runs for ever: what ended is restored then.
  const isRecent = Date.now() - time.getTime() < witnessTimeout
  if (failure !== undefined && answers.length === 0 && isRecent) throw failure
  return answers.some((each) => each?.state === 'running' && each.startedAt !== null && each.startedAt < time.getTime())
}
