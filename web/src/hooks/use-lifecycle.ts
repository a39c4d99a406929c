import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { Client } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/container.ts'
import type { ContainerEntry } from '@berth/api/user.ts'
import { connect, launchLimit } from '#/api.ts'
import { isSignedOut } from '#/errors.ts'
import { leave } from '#/leave.ts'
import { useTask } from '#/hooks/use-task.ts'
import { failureOf, mayGoOn } from '#/launches.ts'

/** What a person can have done to a container. */
export type Verb = 'launch' | 'restart'

export interface Lifecycle {
  /** Under way now. */
  readonly verb: Verb | undefined
  /** Went well last. */
  readonly done: Verb | undefined
  /** Why the last one failed; it may not have been asked for here. */
  readonly failure: unknown
  launch(): void
  restart(): void
}

/**
 * Launch and restart of one container, one at a time. `onChange` is called after each, whatever came of it.
 * @param event the last that was told of a launch of it
 */
export function useLifecycle(entry: ContainerEntry, event: LaunchEvent | undefined, onChange: () => void): Lifecycle {
  const { busy, error, run, reset } = useTask()
  const [verb, setVerb] = useState<Verb>()
  const failure = useMemo(() => (busy ? undefined : failureOf(error, event)), [busy, error, event])

  // What somebody gave up waiting for may still come to a good end.
  const forget = useEffectEvent(() => mayGoOn(error) && reset())
  const isReady = event?.stage === 'ready'
  useEffect(() => void (isReady && forget()), [isReady])

  const start = (chosen: Verb, call: (api: Client) => Promise<unknown>) =>
    void run(async (signal) => {
      setVerb(chosen)
      try {
        await call(connect(signal, launchLimit))
      } catch (reason) {
        if (isSignedOut(reason)) leave()
        throw reason
      } finally {
        if (!signal.aborted) onChange()
      }
    })

  return {
    verb: busy ? verb : undefined,
    done: busy || error !== undefined ? undefined : verb,
    failure,
    launch: () => start('launch', (api) => api.launchContainer({ params: { container_type: entry.type } })),
    restart: () => start('restart', (api) => api.restartContainer()),
  }
}
